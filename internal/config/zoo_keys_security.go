package config

// zooSecurityKeys are about who may do what.
var zooSecurityKeys = []Key{
	{
		Name: "DigestAuthenticationProvider.digestAlg", Type: Str, Default: "SHA1",
		Valid: "anycase:SHA1,SHA-1,SHA256,SHA-256,SHA512,SHA-512",
		Doc:   "Hash of the digest scheme.",
	},
	{
		Name: "DigestAuthenticationProvider.enabled", Type: Boolean, Default: "true",
		Doc: "Offer the digest scheme.",
	},
	{
		Name: "DigestAuthenticationProvider.superDigest", Type: Password, Default: Null,
		Doc: "super:<hash> of the one that may do everything.",
	},
	{
		Name: "IPAuthenticationProvider.usexforwardedfor", Type: Boolean, Default: "false", Status: Later,
		Doc: "Take the address from X-Forwarded-For, for commands over HTTP.",
	},
	{
		Name: "X509AuthenticationProvider.superUser", Type: Str, Default: Null, Status: Later,
		Doc: "Certificate's name of the one that may do everything.",
	},
	{
		Name: "allowSaslFailedClients", Type: Boolean, Default: "false", Status: Later,
		Doc: "Let a client go on whose SASL login failed.",
	},
	{
		Name: "audit.enable", Type: Boolean, Default: "false", Status: Later,
		Doc: "Log who changed what.",
	},
	{
		Name: "audit.impl.class", Type: Str, Default: Null, Status: Nothing,
		Doc: "Java's audit logger.",
	},
	{
		Name: "client.certReload", Type: Boolean, Default: "false", Status: Later,
		Doc: "Read the certificates for clients again when the files change.",
	},
	{
		Name: "client.portUnification", Type: Boolean, Default: "false", Status: Later,
		Doc: "Accept TLS and plain connections of clients on one port.",
	},
	{
		Name: "enforce.auth.enabled", Type: Boolean, Default: "false", Status: Later,
		Doc: "Refuse requests of clients that did not authenticate.",
	},
	{
		Name: "enforce.auth.schemes", Type: List, Default: "", Valid: "list", Status: Later,
		Doc: "With which of these schemes.",
	},
	{
		Name: "ensembleAuthName", Type: List, Default: "", Valid: "list", Status: Later,
		Doc: "Names by which clients may call this ensemble.",
	},
	{
		Name: "fips-mode", Type: Boolean, Default: "true", Status: Nothing,
		Doc: "Java's choice of ciphers.",
	},
	{
		Name: "kerberos.canonicalizeHostNames", Type: Boolean, Default: "false", Status: Later,
		Doc: "Resolve host names for Kerberos.",
	},
	{
		Name: "kerberos.removeHostFromPrincipal", Type: Boolean, Default: "false", Status: Later,
		Doc: "Leave the host out of a Kerberos identity.",
	},
	{
		Name: "kerberos.removeRealmFromPrincipal", Type: Boolean, Default: "false", Status: Later,
		Doc: "Leave the realm out of a Kerberos identity.",
	},
	{
		Name: "letAnySaslUserDoX", Type: Str, Default: Null, Status: Later,
		Doc: "A SASL user that may do everything: a leftover of the first releases.",
	},
	{
		Name: "sasl.serverconfig", Type: Str, Default: "Server", Status: Later,
		Doc: "JAAS section for clients' logins.",
	},
	{
		Name: "sessionRequireClientSASLAuth", Type: Boolean, Default: "false", Status: Later,
		Doc: "Refuse sessions without a SASL login.",
	},
	{
		Name: "ssl.authProvider", Type: Str, Default: "x509", Status: Later,
		Doc: "Scheme of certificates.",
	},
	{
		Name: "superUser", Type: Str, Default: Null, Status: Later,
		Doc: "SASL user that may do everything; superUser.N for more.",
	},
}

// zooTLSKeys are about TLS.
var zooTLSKeys = []Key{
	{
		Name: "ssl.allowReverseDnsLookup", Type: Boolean, Default: "false", Status: Later,
		Doc: "Look names up to verify a host.",
	},
	{
		Name: "ssl.ciphersuites", Type: List, Default: Null, Valid: "list", Status: Later,
		Doc: "Ciphers.",
	},
	{
		Name: "ssl.clientAuth", Type: Str, Default: "need", Valid: "anycase:none,want,need", Status: Later,
		Doc: "Whether certificates are asked for, for clients.",
	},
	{
		Name: "ssl.clientHostnameVerification", Type: Boolean, Default: "false", Status: Later,
		Doc: "Verify the host that connects.",
	},
	{
		Name: "ssl.context.supplier.class", Type: Str, Default: Null, Status: Nothing,
		Doc: "Java's TLS.",
	},
	{
		Name: "ssl.crl", Type: Boolean, Default: "false", Status: Later,
		Doc: "Look for revoked certificates in lists.",
	},
	{
		Name: "ssl.enabledProtocols", Type: List, Default: Null, Valid: "list", Status: Later,
		Doc: "Versions of TLS.",
	},
	{
		Name: "ssl.handshakeDetectionTimeoutMillis", Type: Int, Default: "5000", Valid: "1..", Status: Later,
		Doc: "How long a connection may take to begin TLS or not.",
	},
	{
		Name: "ssl.hostnameVerification", Type: Boolean, Default: "true", Status: Later,
		Doc: "Verify the host that was connected to.",
	},
	{
		Name: "ssl.keyStore.location", Type: Str, Default: Null, Status: Later,
		Doc: "File with the own certificate and key, for clients.",
	},
	{
		Name: "ssl.keyStore.password", Type: Password, Default: Null, Status: Later,
		Doc: "Password of that file.",
	},
	{
		Name: "ssl.keyStore.passwordPath", Type: Str, Default: Null, Status: Later,
		Doc: "File that holds that password.",
	},
	{
		Name: "ssl.keyStore.type", Type: Str, Default: Null, Valid: "anycase:JKS,PEM,PKCS12,BCFKS", Status: Later,
		Doc: "Its format; unset is by its suffix.",
	},
	{
		Name: "ssl.ocsp", Type: Boolean, Default: "false", Status: Later,
		Doc: "Ask for revoked certificates.",
	},
	{
		Name: "ssl.protocol", Type: Str, Default: Null, Status: Later,
		Doc: "Version of TLS; unset is the newest of both sides.",
	},
	{
		Name: "ssl.quorum.allowReverseDnsLookup", Type: Boolean, Default: "false", Status: Later,
		Doc: "Look names up to verify a host.",
	},
	{
		Name: "ssl.quorum.ciphersuites", Type: List, Default: Null, Valid: "list", Status: Later,
		Doc: "Ciphers.",
	},
	{
		Name: "ssl.quorum.clientAuth", Type: Str, Default: "need", Valid: "anycase:none,want,need", Status: Later,
		Doc: "Whether certificates are asked for, between servers.",
	},
	{
		Name: "ssl.quorum.clientHostnameVerification", Type: Boolean, Default: "true", Status: Later,
		Doc: "Verify the host that connects.",
	},
	{
		Name: "ssl.quorum.context.supplier.class", Type: Str, Default: Null, Status: Nothing,
		Doc: "Java's TLS.",
	},
	{
		Name: "ssl.quorum.crl", Type: Boolean, Default: "false", Status: Later,
		Doc: "Look for revoked certificates in lists.",
	},
	{
		Name: "ssl.quorum.enabledProtocols", Type: List, Default: Null, Valid: "list", Status: Later,
		Doc: "Versions of TLS.",
	},
	{
		Name: "ssl.quorum.handshakeDetectionTimeoutMillis", Type: Int, Default: "5000", Valid: "1..",
		Status: Later,
		Doc:    "How long a connection may take to begin TLS or not.",
	},
	{
		Name: "ssl.quorum.hostnameVerification", Type: Boolean, Default: "true", Status: Later,
		Doc: "Verify the host that was connected to.",
	},
	{
		Name: "ssl.quorum.keyStore.location", Type: Str, Default: Null, Status: Later,
		Doc: "File with the own certificate and key, between servers.",
	},
	{
		Name: "ssl.quorum.keyStore.password", Type: Password, Default: Null, Status: Later,
		Doc: "Password of that file.",
	},
	{
		Name: "ssl.quorum.keyStore.passwordPath", Type: Str, Default: Null, Status: Later,
		Doc: "File that holds that password.",
	},
	{
		Name: "ssl.quorum.keyStore.type", Type: Str, Default: Null,
		Valid: "anycase:JKS,PEM,PKCS12,BCFKS", Status: Later,
		Doc: "Its format; unset is by its suffix.",
	},
	{
		Name: "ssl.quorum.ocsp", Type: Boolean, Default: "false", Status: Later,
		Doc: "Ask for revoked certificates.",
	},
	{
		Name: "ssl.quorum.protocol", Type: Str, Default: Null, Status: Later,
		Doc: "Version of TLS; unset is the newest of both sides.",
	},
	{
		Name: "ssl.quorum.trustStore.location", Type: Str, Default: Null, Status: Later,
		Doc: "File with the certificates that are trusted, between servers.",
	},
	{
		Name: "ssl.quorum.trustStore.password", Type: Password, Default: Null, Status: Later,
		Doc: "Password of that file.",
	},
	{
		Name: "ssl.quorum.trustStore.passwordPath", Type: Str, Default: Null, Status: Later,
		Doc: "File that holds that password.",
	},
	{
		Name: "ssl.quorum.trustStore.type", Type: Str, Default: Null,
		Valid: "anycase:JKS,PEM,PKCS12,BCFKS", Status: Later,
		Doc: "Its format; unset is by its suffix.",
	},
	{
		Name: "ssl.sslProvider", Type: Str, Default: Null, Status: Nothing,
		Doc: "Java's TLS.",
	},
	{
		Name: "ssl.trustStore.location", Type: Str, Default: Null, Status: Later,
		Doc: "File with the certificates that are trusted, for clients.",
	},
	{
		Name: "ssl.trustStore.password", Type: Password, Default: Null, Status: Later,
		Doc: "Password of that file.",
	},
	{
		Name: "ssl.trustStore.passwordPath", Type: Str, Default: Null, Status: Later,
		Doc: "File that holds that password.",
	},
	{
		Name: "ssl.trustStore.type", Type: Str, Default: Null, Valid: "anycase:JKS,PEM,PKCS12,BCFKS",
		Status: Later,
		Doc:    "Its format; unset is by its suffix.",
	},
}
