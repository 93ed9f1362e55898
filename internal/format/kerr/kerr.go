// Package kerr is Kafka's wire error codes: their numbers, names, and which of them clients retry.
package kerr

// Code is an error code as it stands in responses. It is an outcome of the protocol, not a fault of ours.
type Code int16

// Every code of Kafka 4.4 (reference broker.md 0). Numbers never change.
const (
	UnknownServerError                     Code = -1
	None                                   Code = 0
	OffsetOutOfRange                       Code = 1
	CorruptMessage                         Code = 2
	UnknownTopicOrPartition                Code = 3
	InvalidFetchSize                       Code = 4
	LeaderNotAvailable                     Code = 5
	NotLeaderOrFollower                    Code = 6
	RequestTimedOut                        Code = 7
	BrokerNotAvailable                     Code = 8
	ReplicaNotAvailable                    Code = 9
	MessageTooLarge                        Code = 10
	StaleControllerEpoch                   Code = 11
	OffsetMetadataTooLarge                 Code = 12
	NetworkException                       Code = 13
	CoordinatorLoadInProgress              Code = 14
	CoordinatorNotAvailable                Code = 15
	NotCoordinator                         Code = 16
	InvalidTopicException                  Code = 17
	RecordListTooLarge                     Code = 18
	NotEnoughReplicas                      Code = 19
	NotEnoughReplicasAfterAppend           Code = 20
	InvalidRequiredAcks                    Code = 21
	IllegalGeneration                      Code = 22
	InconsistentGroupProtocol              Code = 23
	InvalidGroupID                         Code = 24
	UnknownMemberID                        Code = 25
	InvalidSessionTimeout                  Code = 26
	RebalanceInProgress                    Code = 27
	InvalidCommitOffsetSize                Code = 28
	TopicAuthorizationFailed               Code = 29
	GroupAuthorizationFailed               Code = 30
	ClusterAuthorizationFailed             Code = 31
	InvalidTimestamp                       Code = 32
	UnsupportedSaslMechanism               Code = 33
	IllegalSaslState                       Code = 34
	UnsupportedVersion                     Code = 35
	TopicAlreadyExists                     Code = 36
	InvalidPartitions                      Code = 37
	InvalidReplicationFactor               Code = 38
	InvalidReplicaAssignment               Code = 39
	InvalidConfig                          Code = 40
	NotController                          Code = 41
	InvalidRequest                         Code = 42
	UnsupportedForMessageFormat            Code = 43
	PolicyViolation                        Code = 44
	OutOfOrderSequenceNumber               Code = 45
	DuplicateSequenceNumber                Code = 46
	InvalidProducerEpoch                   Code = 47
	InvalidTxnState                        Code = 48
	InvalidProducerIDMapping               Code = 49
	InvalidTransactionTimeout              Code = 50
	ConcurrentTransactions                 Code = 51
	TransactionCoordinatorFenced           Code = 52
	TransactionalIDAuthorizationFailed     Code = 53
	SecurityDisabled                       Code = 54
	OperationNotAttempted                  Code = 55
	KafkaStorageError                      Code = 56
	LogDirNotFound                         Code = 57
	SaslAuthenticationFailed               Code = 58
	UnknownProducerID                      Code = 59
	ReassignmentInProgress                 Code = 60
	DelegationTokenAuthDisabled            Code = 61
	DelegationTokenNotFound                Code = 62
	DelegationTokenOwnerMismatch           Code = 63
	DelegationTokenRequestNotAllowed       Code = 64
	DelegationTokenAuthorizationFailed     Code = 65
	DelegationTokenExpired                 Code = 66
	InvalidPrincipalType                   Code = 67
	NonEmptyGroup                          Code = 68
	GroupIDNotFound                        Code = 69
	FetchSessionIDNotFound                 Code = 70
	InvalidFetchSessionEpoch               Code = 71
	ListenerNotFound                       Code = 72
	TopicDeletionDisabled                  Code = 73
	FencedLeaderEpoch                      Code = 74
	UnknownLeaderEpoch                     Code = 75
	UnsupportedCompressionType             Code = 76
	StaleBrokerEpoch                       Code = 77
	OffsetNotAvailable                     Code = 78
	MemberIDRequired                       Code = 79
	PreferredLeaderNotAvailable            Code = 80
	GroupMaxSizeReached                    Code = 81
	FencedInstanceID                       Code = 82
	EligibleLeadersNotAvailable            Code = 83
	ElectionNotNeeded                      Code = 84
	NoReassignmentInProgress               Code = 85
	GroupSubscribedToTopic                 Code = 86
	InvalidRecord                          Code = 87
	UnstableOffsetCommit                   Code = 88
	ThrottlingQuotaExceeded                Code = 89
	ProducerFenced                         Code = 90
	ResourceNotFound                       Code = 91
	DuplicateResource                      Code = 92
	UnacceptableCredential                 Code = 93
	InconsistentVoterSet                   Code = 94
	InvalidUpdateVersion                   Code = 95
	FeatureUpdateFailed                    Code = 96
	PrincipalDeserializationFailure        Code = 97
	SnapshotNotFound                       Code = 98
	PositionOutOfRange                     Code = 99
	UnknownTopicID                         Code = 100
	DuplicateBrokerRegistration            Code = 101
	BrokerIDNotRegistered                  Code = 102
	InconsistentTopicID                    Code = 103
	InconsistentClusterID                  Code = 104
	TransactionalIDNotFound                Code = 105
	FetchSessionTopicIDError               Code = 106
	IneligibleReplica                      Code = 107
	NewLeaderElected                       Code = 108
	OffsetMovedToTieredStorage             Code = 109
	FencedMemberEpoch                      Code = 110
	UnreleasedInstanceID                   Code = 111
	UnsupportedAssignor                    Code = 112
	StaleMemberEpoch                       Code = 113
	MismatchedEndpointType                 Code = 114
	UnsupportedEndpointType                Code = 115
	UnknownControllerID                    Code = 116
	UnknownSubscriptionID                  Code = 117
	TelemetryTooLarge                      Code = 118
	InvalidRegistration                    Code = 119
	TransactionAbortable                   Code = 120
	InvalidRecordState                     Code = 121
	ShareSessionNotFound                   Code = 122
	InvalidShareSessionEpoch               Code = 123
	FencedStateEpoch                       Code = 124
	InvalidVoterKey                        Code = 125
	DuplicateVoter                         Code = 126
	VoterNotFound                          Code = 127
	InvalidRegularExpression               Code = 128
	RebootstrapRequired                    Code = 129
	StreamsInvalidTopology                 Code = 130
	StreamsInvalidTopologyEpoch            Code = 131
	StreamsTopologyFenced                  Code = 132
	ShareSessionLimitReached               Code = 133
	GroupDeletionFailed                    Code = 134
	StreamsTopologyDescriptionUpdateFailed Code = 135
	ControllerIDNotRegistered              Code = 136
)

const first, last = UnknownServerError, ControllerIDNotRegistered

// names holds Apache's names, at code - first.
var names = [...]string{
	UnknownServerError - first:                     "UNKNOWN_SERVER_ERROR",
	None - first:                                   "NONE",
	OffsetOutOfRange - first:                       "OFFSET_OUT_OF_RANGE",
	CorruptMessage - first:                         "CORRUPT_MESSAGE",
	UnknownTopicOrPartition - first:                "UNKNOWN_TOPIC_OR_PARTITION",
	InvalidFetchSize - first:                       "INVALID_FETCH_SIZE",
	LeaderNotAvailable - first:                     "LEADER_NOT_AVAILABLE",
	NotLeaderOrFollower - first:                    "NOT_LEADER_OR_FOLLOWER",
	RequestTimedOut - first:                        "REQUEST_TIMED_OUT",
	BrokerNotAvailable - first:                     "BROKER_NOT_AVAILABLE",
	ReplicaNotAvailable - first:                    "REPLICA_NOT_AVAILABLE",
	MessageTooLarge - first:                        "MESSAGE_TOO_LARGE",
	StaleControllerEpoch - first:                   "STALE_CONTROLLER_EPOCH",
	OffsetMetadataTooLarge - first:                 "OFFSET_METADATA_TOO_LARGE",
	NetworkException - first:                       "NETWORK_EXCEPTION",
	CoordinatorLoadInProgress - first:              "COORDINATOR_LOAD_IN_PROGRESS",
	CoordinatorNotAvailable - first:                "COORDINATOR_NOT_AVAILABLE",
	NotCoordinator - first:                         "NOT_COORDINATOR",
	InvalidTopicException - first:                  "INVALID_TOPIC_EXCEPTION",
	RecordListTooLarge - first:                     "RECORD_LIST_TOO_LARGE",
	NotEnoughReplicas - first:                      "NOT_ENOUGH_REPLICAS",
	NotEnoughReplicasAfterAppend - first:           "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
	InvalidRequiredAcks - first:                    "INVALID_REQUIRED_ACKS",
	IllegalGeneration - first:                      "ILLEGAL_GENERATION",
	InconsistentGroupProtocol - first:              "INCONSISTENT_GROUP_PROTOCOL",
	InvalidGroupID - first:                         "INVALID_GROUP_ID",
	UnknownMemberID - first:                        "UNKNOWN_MEMBER_ID",
	InvalidSessionTimeout - first:                  "INVALID_SESSION_TIMEOUT",
	RebalanceInProgress - first:                    "REBALANCE_IN_PROGRESS",
	InvalidCommitOffsetSize - first:                "INVALID_COMMIT_OFFSET_SIZE",
	TopicAuthorizationFailed - first:               "TOPIC_AUTHORIZATION_FAILED",
	GroupAuthorizationFailed - first:               "GROUP_AUTHORIZATION_FAILED",
	ClusterAuthorizationFailed - first:             "CLUSTER_AUTHORIZATION_FAILED",
	InvalidTimestamp - first:                       "INVALID_TIMESTAMP",
	UnsupportedSaslMechanism - first:               "UNSUPPORTED_SASL_MECHANISM",
	IllegalSaslState - first:                       "ILLEGAL_SASL_STATE",
	UnsupportedVersion - first:                     "UNSUPPORTED_VERSION",
	TopicAlreadyExists - first:                     "TOPIC_ALREADY_EXISTS",
	InvalidPartitions - first:                      "INVALID_PARTITIONS",
	InvalidReplicationFactor - first:               "INVALID_REPLICATION_FACTOR",
	InvalidReplicaAssignment - first:               "INVALID_REPLICA_ASSIGNMENT",
	InvalidConfig - first:                          "INVALID_CONFIG",
	NotController - first:                          "NOT_CONTROLLER",
	InvalidRequest - first:                         "INVALID_REQUEST",
	UnsupportedForMessageFormat - first:            "UNSUPPORTED_FOR_MESSAGE_FORMAT",
	PolicyViolation - first:                        "POLICY_VIOLATION",
	OutOfOrderSequenceNumber - first:               "OUT_OF_ORDER_SEQUENCE_NUMBER",
	DuplicateSequenceNumber - first:                "DUPLICATE_SEQUENCE_NUMBER",
	InvalidProducerEpoch - first:                   "INVALID_PRODUCER_EPOCH",
	InvalidTxnState - first:                        "INVALID_TXN_STATE",
	InvalidProducerIDMapping - first:               "INVALID_PRODUCER_ID_MAPPING",
	InvalidTransactionTimeout - first:              "INVALID_TRANSACTION_TIMEOUT",
	ConcurrentTransactions - first:                 "CONCURRENT_TRANSACTIONS",
	TransactionCoordinatorFenced - first:           "TRANSACTION_COORDINATOR_FENCED",
	TransactionalIDAuthorizationFailed - first:     "TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
	SecurityDisabled - first:                       "SECURITY_DISABLED",
	OperationNotAttempted - first:                  "OPERATION_NOT_ATTEMPTED",
	KafkaStorageError - first:                      "KAFKA_STORAGE_ERROR",
	LogDirNotFound - first:                         "LOG_DIR_NOT_FOUND",
	SaslAuthenticationFailed - first:               "SASL_AUTHENTICATION_FAILED",
	UnknownProducerID - first:                      "UNKNOWN_PRODUCER_ID",
	ReassignmentInProgress - first:                 "REASSIGNMENT_IN_PROGRESS",
	DelegationTokenAuthDisabled - first:            "DELEGATION_TOKEN_AUTH_DISABLED",
	DelegationTokenNotFound - first:                "DELEGATION_TOKEN_NOT_FOUND",
	DelegationTokenOwnerMismatch - first:           "DELEGATION_TOKEN_OWNER_MISMATCH",
	DelegationTokenRequestNotAllowed - first:       "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED",
	DelegationTokenAuthorizationFailed - first:     "DELEGATION_TOKEN_AUTHORIZATION_FAILED",
	DelegationTokenExpired - first:                 "DELEGATION_TOKEN_EXPIRED",
	InvalidPrincipalType - first:                   "INVALID_PRINCIPAL_TYPE",
	NonEmptyGroup - first:                          "NON_EMPTY_GROUP",
	GroupIDNotFound - first:                        "GROUP_ID_NOT_FOUND",
	FetchSessionIDNotFound - first:                 "FETCH_SESSION_ID_NOT_FOUND",
	InvalidFetchSessionEpoch - first:               "INVALID_FETCH_SESSION_EPOCH",
	ListenerNotFound - first:                       "LISTENER_NOT_FOUND",
	TopicDeletionDisabled - first:                  "TOPIC_DELETION_DISABLED",
	FencedLeaderEpoch - first:                      "FENCED_LEADER_EPOCH",
	UnknownLeaderEpoch - first:                     "UNKNOWN_LEADER_EPOCH",
	UnsupportedCompressionType - first:             "UNSUPPORTED_COMPRESSION_TYPE",
	StaleBrokerEpoch - first:                       "STALE_BROKER_EPOCH",
	OffsetNotAvailable - first:                     "OFFSET_NOT_AVAILABLE",
	MemberIDRequired - first:                       "MEMBER_ID_REQUIRED",
	PreferredLeaderNotAvailable - first:            "PREFERRED_LEADER_NOT_AVAILABLE",
	GroupMaxSizeReached - first:                    "GROUP_MAX_SIZE_REACHED",
	FencedInstanceID - first:                       "FENCED_INSTANCE_ID",
	EligibleLeadersNotAvailable - first:            "ELIGIBLE_LEADERS_NOT_AVAILABLE",
	ElectionNotNeeded - first:                      "ELECTION_NOT_NEEDED",
	NoReassignmentInProgress - first:               "NO_REASSIGNMENT_IN_PROGRESS",
	GroupSubscribedToTopic - first:                 "GROUP_SUBSCRIBED_TO_TOPIC",
	InvalidRecord - first:                          "INVALID_RECORD",
	UnstableOffsetCommit - first:                   "UNSTABLE_OFFSET_COMMIT",
	ThrottlingQuotaExceeded - first:                "THROTTLING_QUOTA_EXCEEDED",
	ProducerFenced - first:                         "PRODUCER_FENCED",
	ResourceNotFound - first:                       "RESOURCE_NOT_FOUND",
	DuplicateResource - first:                      "DUPLICATE_RESOURCE",
	UnacceptableCredential - first:                 "UNACCEPTABLE_CREDENTIAL",
	InconsistentVoterSet - first:                   "INCONSISTENT_VOTER_SET",
	InvalidUpdateVersion - first:                   "INVALID_UPDATE_VERSION",
	FeatureUpdateFailed - first:                    "FEATURE_UPDATE_FAILED",
	PrincipalDeserializationFailure - first:        "PRINCIPAL_DESERIALIZATION_FAILURE",
	SnapshotNotFound - first:                       "SNAPSHOT_NOT_FOUND",
	PositionOutOfRange - first:                     "POSITION_OUT_OF_RANGE",
	UnknownTopicID - first:                         "UNKNOWN_TOPIC_ID",
	DuplicateBrokerRegistration - first:            "DUPLICATE_BROKER_REGISTRATION",
	BrokerIDNotRegistered - first:                  "BROKER_ID_NOT_REGISTERED",
	InconsistentTopicID - first:                    "INCONSISTENT_TOPIC_ID",
	InconsistentClusterID - first:                  "INCONSISTENT_CLUSTER_ID",
	TransactionalIDNotFound - first:                "TRANSACTIONAL_ID_NOT_FOUND",
	FetchSessionTopicIDError - first:               "FETCH_SESSION_TOPIC_ID_ERROR",
	IneligibleReplica - first:                      "INELIGIBLE_REPLICA",
	NewLeaderElected - first:                       "NEW_LEADER_ELECTED",
	OffsetMovedToTieredStorage - first:             "OFFSET_MOVED_TO_TIERED_STORAGE",
	FencedMemberEpoch - first:                      "FENCED_MEMBER_EPOCH",
	UnreleasedInstanceID - first:                   "UNRELEASED_INSTANCE_ID",
	UnsupportedAssignor - first:                    "UNSUPPORTED_ASSIGNOR",
	StaleMemberEpoch - first:                       "STALE_MEMBER_EPOCH",
	MismatchedEndpointType - first:                 "MISMATCHED_ENDPOINT_TYPE",
	UnsupportedEndpointType - first:                "UNSUPPORTED_ENDPOINT_TYPE",
	UnknownControllerID - first:                    "UNKNOWN_CONTROLLER_ID",
	UnknownSubscriptionID - first:                  "UNKNOWN_SUBSCRIPTION_ID",
	TelemetryTooLarge - first:                      "TELEMETRY_TOO_LARGE",
	InvalidRegistration - first:                    "INVALID_REGISTRATION",
	TransactionAbortable - first:                   "TRANSACTION_ABORTABLE",
	InvalidRecordState - first:                     "INVALID_RECORD_STATE",
	ShareSessionNotFound - first:                   "SHARE_SESSION_NOT_FOUND",
	InvalidShareSessionEpoch - first:               "INVALID_SHARE_SESSION_EPOCH",
	FencedStateEpoch - first:                       "FENCED_STATE_EPOCH",
	InvalidVoterKey - first:                        "INVALID_VOTER_KEY",
	DuplicateVoter - first:                         "DUPLICATE_VOTER",
	VoterNotFound - first:                          "VOTER_NOT_FOUND",
	InvalidRegularExpression - first:               "INVALID_REGULAR_EXPRESSION",
	RebootstrapRequired - first:                    "REBOOTSTRAP_REQUIRED",
	StreamsInvalidTopology - first:                 "STREAMS_INVALID_TOPOLOGY",
	StreamsInvalidTopologyEpoch - first:            "STREAMS_INVALID_TOPOLOGY_EPOCH",
	StreamsTopologyFenced - first:                  "STREAMS_TOPOLOGY_FENCED",
	ShareSessionLimitReached - first:               "SHARE_SESSION_LIMIT_REACHED",
	GroupDeletionFailed - first:                    "GROUP_DELETION_FAILED",
	StreamsTopologyDescriptionUpdateFailed - first: "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED",
	ControllerIDNotRegistered - first:              "CONTROLLER_ID_NOT_REGISTERED",
}

// String is Apache's name of the code, as its tools print it.
func (c Code) String() string {
	if c < first || c > last {
		return "UNKNOWN_SERVER_ERROR"
	}
	return names[c-first]
}

// Error makes a Code usable where an error value is due.
func (c Code) Error() string { return c.String() }

// Retriable tells whether clients treat the code as transient.
func (c Code) Retriable() bool {
	switch c {
	case CorruptMessage,
		UnknownTopicOrPartition,
		LeaderNotAvailable,
		NotLeaderOrFollower,
		RequestTimedOut,
		ReplicaNotAvailable,
		NetworkException,
		CoordinatorLoadInProgress,
		CoordinatorNotAvailable,
		NotCoordinator,
		NotEnoughReplicas,
		NotEnoughReplicasAfterAppend,
		NotController,
		ConcurrentTransactions,
		KafkaStorageError,
		FetchSessionIDNotFound,
		InvalidFetchSessionEpoch,
		ListenerNotFound,
		FencedLeaderEpoch,
		UnknownLeaderEpoch,
		OffsetNotAvailable,
		PreferredLeaderNotAvailable,
		EligibleLeadersNotAvailable,
		ElectionNotNeeded,
		UnstableOffsetCommit,
		ThrottlingQuotaExceeded,
		UnknownTopicID,
		InconsistentTopicID,
		FetchSessionTopicIDError,
		ShareSessionNotFound,
		InvalidShareSessionEpoch,
		ShareSessionLimitReached:
		return true
	default:
		return false
	}
}
