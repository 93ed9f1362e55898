package config

// securityKeys are the keys about authentication and authorization, by name.
var securityKeys = []Key{
	{
		Name: "authorizer.class.name", Type: Str, Default: "", Status: Later,
		Doc: "The authorizer: empty is off; org.apache.kafka.metadata.authorizer.StandardAuthorizer keeps " +
			"ACLs in the metadata log.",
	},
	{
		Name: "delegation.token.expiry.check.interval.ms", Type: Long, Default: "3600000", Valid: "1..",
		Status: Later,
		Doc:    "How often expired delegation tokens are removed.",
	},
	{
		Name: "delegation.token.expiry.time.ms", Type: Long, Default: "86400000", Valid: "1..",
		Status: Later,
		Doc:    "A delegation token is valid this long unless renewed.",
	},
	{
		Name: "delegation.token.max.lifetime.ms", Type: Long, Default: "604800000", Valid: "1..",
		Status: Later,
		Doc:    "A delegation token can't be renewed past this age.",
	},
	{
		Name: "delegation.token.secret.key", Type: Password, Default: Null, Status: Later,
		Doc: "Secret that signs delegation tokens, the same on every node; none turns tokens off.",
	},
	{
		Name: "principal.builder.class", Type: Class,
		Default: "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
		Mode:    PerBroker, Status: Later,
		Doc: "Builds the principal of a connection; only the default one exists.",
	},
	{
		Name: "sasl.client.callback.handler.class", Type: Class, Default: Null, Status: Later,
		Doc: "Callback handler of connections that the broker opens.",
	},
	{
		Name: "sasl.enabled.mechanisms", Type: List, Default: "GSSAPI", Valid: "list", Mode: PerBroker,
		Status: Later,
		Doc:    "SASL mechanisms that clients may choose from.",
	},
	{
		Name: "sasl.jaas.config", Type: Password, Default: Null, Mode: PerBroker, Status: Later,
		Doc: "Login of one mechanism in JAAS notation, under a listener and mechanism prefix.",
	},
	{
		Name: "sasl.kerberos.kinit.cmd", Type: Str, Default: "/usr/bin/kinit", Mode: PerBroker,
		Status: Nothing,
		Doc:    "Path of kinit. Tickets are renewed without it here.",
	},
	{
		Name: "sasl.kerberos.min.time.before.relogin", Type: Long, Default: "60000", Mode: PerBroker,
		Status: Later,
		Doc:    "Least time between two Kerberos logins.",
	},
	{
		Name: "sasl.kerberos.principal.to.local.rules", Type: List, Default: "DEFAULT", Valid: "list",
		Mode: PerBroker, Status: Later,
		Doc: "Rules that map Kerberos principals to short names.",
	},
	{
		Name: "sasl.kerberos.service.name", Type: Str, Default: Null, Mode: PerBroker, Status: Later,
		Doc: "Kerberos name of the service.",
	},
	{
		Name: "sasl.kerberos.ticket.renew.jitter", Type: Double, Default: "0.05", Mode: PerBroker,
		Status: Later,
		Doc:    "Random share added to the time of a ticket's renewal.",
	},
	{
		Name: "sasl.kerberos.ticket.renew.window.factor", Type: Double, Default: "0.8", Mode: PerBroker,
		Status: Later,
		Doc:    "Share of a ticket's life after which it is renewed.",
	},
	{
		Name: "sasl.login.callback.handler.class", Type: Class, Default: Null, Status: Later,
		Doc: "Callback handler of the login of connections that the broker opens.",
	},
	{
		Name: "sasl.login.class", Type: Class, Default: Null, Status: Later,
		Doc: "Login of connections that the broker opens.",
	},
	{
		Name: "sasl.login.connect.timeout.ms", Type: Int, Default: Null, Status: Later,
		Doc: "Time to connect to an outside authentication provider.",
	},
	{
		Name: "sasl.login.read.timeout.ms", Type: Int, Default: Null, Status: Later,
		Doc: "Time to read from an outside authentication provider.",
	},
	{
		Name: "sasl.login.refresh.buffer.seconds", Type: Short, Default: "300", Mode: PerBroker,
		Status: Later,
		Doc:    "A credential is refreshed at least this long before it expires.",
	},
	{
		Name: "sasl.login.refresh.min.period.seconds", Type: Short, Default: "60", Mode: PerBroker,
		Status: Later,
		Doc:    "Least time between two refreshes of a credential.",
	},
	{
		Name: "sasl.login.refresh.window.factor", Type: Double, Default: "0.8", Mode: PerBroker,
		Status: Later,
		Doc:    "Share of a credential's life after which it is refreshed.",
	},
	{
		Name: "sasl.login.refresh.window.jitter", Type: Double, Default: "0.05", Mode: PerBroker,
		Status: Later,
		Doc:    "Random share added to the time of a credential's refresh.",
	},
	{
		Name: "sasl.login.retry.backoff.max.ms", Type: Long, Default: "10000", Status: Later,
		Doc: "Longest wait between attempts to reach an outside authentication provider.",
	},
	{
		Name: "sasl.login.retry.backoff.ms", Type: Long, Default: "100", Status: Later,
		Doc: "First wait between attempts to reach an outside authentication provider.",
	},
	{
		Name: "sasl.mechanism.controller.protocol", Type: Str, Default: "GSSAPI", Status: Later,
		Doc: "SASL mechanism of connections to controllers.",
	},
	{
		Name: "sasl.mechanism.inter.broker.protocol", Type: Str, Default: "GSSAPI", Mode: PerBroker,
		Status: Later,
		Doc:    "SASL mechanism of connections between brokers.",
	},
	{
		Name: "sasl.oauthbearer.allow.unverified.audience", Type: Boolean, Default: "false",
		Status: Later,
		Doc:    "Accept a token whose audience is not checked.",
	},
	{
		Name: "sasl.oauthbearer.allow.unverified.issuer", Type: Boolean, Default: "false", Status: Later,
		Doc: "Accept a token whose issuer is not checked.",
	},
	{
		Name: "sasl.oauthbearer.assertion.algorithm", Type: Str, Default: "RS256",
		Valid: "anycase:ES256,RS256", Status: Later,
		Doc: "Algorithm that signs a JWT assertion.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.aud", Type: Str, Default: Null, Status: Later,
		Doc: "Audience claim of a JWT assertion.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.exp.seconds", Type: Int, Default: "300",
		Valid: "0..86400", Status: Later,
		Doc: "Seconds that a JWT assertion is valid.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.iss", Type: Str, Default: Null, Status: Later,
		Doc: "Issuer claim of a JWT assertion.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.jti.include", Type: Boolean, Default: "false",
		Status: Later,
		Doc:    "Give each JWT assertion a unique id.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.nbf.seconds", Type: Int, Default: "60", Valid: "0..3600",
		Status: Later,
		Doc:    "Seconds before its making from which a JWT assertion is valid.",
	},
	{
		Name: "sasl.oauthbearer.assertion.claim.sub", Type: Str, Default: Null, Status: Later,
		Doc: "Subject claim of a JWT assertion.",
	},
	{
		Name: "sasl.oauthbearer.assertion.file", Type: Str, Default: Null, Status: Later,
		Doc: "File with a ready JWT assertion.",
	},
	{
		Name: "sasl.oauthbearer.assertion.private.key.file", Type: Str, Default: Null, Status: Later,
		Doc: "File with the key that signs JWT assertions.",
	},
	{
		Name: "sasl.oauthbearer.assertion.private.key.passphrase", Type: Password, Default: Null,
		Status: Later,
		Doc:    "Passphrase of the key that signs JWT assertions.",
	},
	{
		Name: "sasl.oauthbearer.assertion.template.file", Type: Str, Default: Null, Status: Later,
		Doc: "File with the header and claims to start a JWT assertion from.",
	},
	{
		Name: "sasl.oauthbearer.client.credentials.client.id", Type: Str, Default: Null, Status: Later,
		Doc: "Client id for the client-credentials grant.",
	},
	{
		Name: "sasl.oauthbearer.client.credentials.client.secret", Type: Password, Default: Null,
		Status: Later,
		Doc:    "Secret for the client-credentials grant.",
	},
	{
		Name: "sasl.oauthbearer.clock.skew.seconds", Type: Int, Default: "30", Status: Later,
		Doc: "Difference between clocks that is forgiven when a token's times are checked.",
	},
	{
		Name: "sasl.oauthbearer.expected.audience", Type: List, Default: "", Valid: "list", Status: Later,
		Doc: "Audiences one of which a token must name.",
	},
	{
		Name: "sasl.oauthbearer.expected.issuer", Type: Str, Default: Null, Status: Later,
		Doc: "Issuer that a token must name.",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.refresh.ms", Type: Long, Default: "3600000", Status: Later,
		Doc: "How often the keys that verify tokens are fetched again.",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", Type: Long, Default: "10000",
		Status: Later,
		Doc:    "Longest wait between attempts to fetch the keys.",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", Type: Long, Default: "100",
		Status: Later,
		Doc:    "First wait between attempts to fetch the keys.",
	},
	{
		Name: "sasl.oauthbearer.jwks.endpoint.url", Type: Str, Default: Null, Status: Later,
		Doc: "Where the keys that verify tokens are.",
	},
	{
		Name: "sasl.oauthbearer.jwt.retriever.class", Type: Class,
		Default: "org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever", Status: Later,
		Doc: "Gets tokens; only the default one exists.",
	},
	{
		Name: "sasl.oauthbearer.jwt.validator.class", Type: Class,
		Default: "org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator", Status: Later,
		Doc: "Checks tokens; only the default one exists.",
	},
	{
		Name: "sasl.oauthbearer.scope", Type: Str, Default: Null, Status: Later,
		Doc: "Scope to ask the token endpoint for.",
	},
	{
		Name: "sasl.oauthbearer.scope.claim.name", Type: Str, Default: "scope", Status: Later,
		Doc: "Name of the claim that holds the scope.",
	},
	{
		Name: "sasl.oauthbearer.sub.claim.name", Type: Str, Default: "sub", Status: Later,
		Doc: "Name of the claim that holds the subject.",
	},
	{
		Name: "sasl.oauthbearer.token.endpoint.url", Type: Str, Default: Null, Status: Later,
		Doc: "Where tokens are got.",
	},
	{
		Name: "sasl.server.callback.handler.class", Type: Class, Default: Null, Status: Later,
		Doc: "Callback handler of one mechanism, under a listener and mechanism prefix.",
	},
	{
		Name: "sasl.server.max.receive.size", Type: Int, Default: "524288", Status: Later,
		Doc: "Longest message that is read before a SASL client is authenticated.",
	},
	{
		Name: "security.providers", Type: Str, Default: Null, Status: Nothing,
		Doc: "Java security providers to load.",
	},
	{
		Name: "ssl.allow.dn.changes", Type: Boolean, Default: "false", Status: Later,
		Doc: "Allow a new keystore of the brokers' listener to have another subject.",
	},
	{
		Name: "ssl.allow.san.changes", Type: Boolean, Default: "false", Status: Later,
		Doc: "Allow a new keystore of the brokers' listener to have other alternative names.",
	},
	{
		Name: "ssl.cipher.suites", Type: List, Default: "", Valid: "list", Mode: PerBroker, Status: Later,
		Doc: "Cipher suites to offer; empty is all safe ones.",
	},
	{
		Name: "ssl.client.auth", Type: Str, Default: "none", Valid: "one:required,requested,none",
		Mode: PerBroker, Status: Later,
		Doc: "Whether clients must, may or need not show a certificate.",
	},
	{
		Name: "ssl.enabled.protocols", Type: List, Default: "TLSv1.2,TLSv1.3", Valid: "list",
		Mode: PerBroker, Status: Later,
		Doc: "TLS versions to offer.",
	},
	{
		Name: "ssl.endpoint.identification.algorithm", Type: Str, Default: "https", Mode: PerBroker,
		Status: Later,
		Doc:    "How a server's certificate is matched with its name; empty is not at all.",
	},
	{
		Name: "ssl.engine.factory.class", Type: Class, Default: Null, Mode: PerBroker, Status: Nothing,
		Doc: "Java class that makes TLS engines.",
	},
	{
		Name: "ssl.key.password", Type: Password, Default: Null, Mode: PerBroker, Status: Later,
		Doc: "Password of the private key.",
	},
	{
		Name: "ssl.keymanager.algorithm", Type: Str, Default: "SunX509", Mode: PerBroker, Status: Nothing,
		Doc: "Java's algorithm of key managers.",
	},
	{
		Name: "ssl.keystore.certificate.chain", Type: Password, Default: Null, Mode: PerBroker,
		Status: Later,
		Doc:    "Certificate chain as PEM text.",
	},
	{
		Name: "ssl.keystore.key", Type: Password, Default: Null, Mode: PerBroker, Status: Later,
		Doc: "Private key as PEM text.",
	},
	{
		Name: "ssl.keystore.location", Type: Str, Default: Null, Mode: PerBroker, Status: Later,
		Doc: "File with the private key and its certificates.",
	},
	{
		Name: "ssl.keystore.password", Type: Password, Default: Null, Mode: PerBroker, Status: Later,
		Doc: "Password of the keystore.",
	},
	{
		Name: "ssl.keystore.type", Type: Str, Default: "JKS", Mode: PerBroker, Status: Later,
		Doc: "Format of the keystore: JKS, PKCS12 or PEM.",
	},
	{
		Name: "ssl.principal.mapping.rules", Type: Str, Default: "DEFAULT", Status: Later,
		Doc: "Rules that turn a certificate's subject into a principal's name.",
	},
	{
		Name: "ssl.protocol", Type: Str, Default: "TLSv1.3", Mode: PerBroker, Status: Later,
		Doc: "Newest TLS version to offer.",
	},
	{
		Name: "ssl.provider", Type: Str, Default: Null, Mode: PerBroker, Status: Nothing,
		Doc: "Java security provider for TLS.",
	},
	{
		Name: "ssl.secure.random.implementation", Type: Str, Default: Null, Mode: PerBroker,
		Status: Nothing,
		Doc:    "Java's source of random numbers for TLS.",
	},
	{
		Name: "ssl.trustmanager.algorithm", Type: Str, Default: "PKIX", Mode: PerBroker, Status: Nothing,
		Doc: "Java's algorithm of trust managers.",
	},
	{
		Name: "ssl.truststore.certificates", Type: Password, Default: Null, Mode: PerBroker,
		Status: Later,
		Doc:    "Trusted certificates as PEM text.",
	},
	{
		Name: "ssl.truststore.location", Type: Str, Default: Null, Mode: PerBroker, Status: Later,
		Doc: "File with the trusted certificates.",
	},
	{
		Name: "ssl.truststore.password", Type: Password, Default: Null, Mode: PerBroker, Status: Later,
		Doc: "Password of the truststore.",
	},
	{
		Name: "ssl.truststore.type", Type: Str, Default: "JKS", Mode: PerBroker, Status: Later,
		Doc: "Format of the truststore: JKS, PKCS12 or PEM.",
	},
}
