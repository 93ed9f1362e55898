package record

// DelegationToken puts a delegation token. Principals are Type:name.
type DelegationToken struct {
	Owner, Requester string
	Renewers         []string
	IssueTime        int64
	MaxTime          int64
	ExpirationTime   int64
	TokenID          string
	Tags             []Tag
}

// Key is the record's type.
func (*DelegationToken) Key() Key { return KeyDelegationToken }

// Latest is the newest version.
func (*DelegationToken) Latest() int16 { return 0 }

func (r *DelegationToken) code(c *coder, _ int16) {
	c.string(&r.Owner)
	c.string(&r.Requester)
	list(c, &r.Renewers, false, 1, c.string)
	c.int64(&r.IssueTime)
	c.int64(&r.MaxTime)
	c.int64(&r.ExpirationTime)
	c.string(&r.TokenID)
	c.tags(&r.Tags)
}

// UserScramCredential puts a SCRAM credential: mechanism 1 is SHA-256, 2 SHA-512.
type UserScramCredential struct {
	Name                       string
	Mechanism                  int8
	Salt, StoredKey, ServerKey []byte
	Iterations                 int32
	Tags                       []Tag
}

// Key is the record's type.
func (*UserScramCredential) Key() Key { return KeyUserScramCredential }

// Latest is the newest version.
func (*UserScramCredential) Latest() int16 { return 0 }

func (r *UserScramCredential) code(c *coder, _ int16) {
	c.string(&r.Name)
	c.int8(&r.Mechanism)
	c.bytes(&r.Salt)
	c.bytes(&r.StoredKey)
	c.bytes(&r.ServerKey)
	c.int32(&r.Iterations)
	c.tags(&r.Tags)
}

// RemoveUserScram removes a SCRAM credential.
type RemoveUserScram struct {
	Name      string
	Mechanism int8
	Tags      []Tag
}

// Key is the record's type.
func (*RemoveUserScram) Key() Key { return KeyRemoveUserScram }

// Latest is the newest version.
func (*RemoveUserScram) Latest() int16 { return 0 }

func (r *RemoveUserScram) code(c *coder, _ int16) {
	c.string(&r.Name)
	c.int8(&r.Mechanism)
	c.tags(&r.Tags)
}

// QuotaEntity is one part of whom a quota is for; a nil name is the default entity.
type QuotaEntity struct {
	Type string
	Name *string
	Tags []Tag
}

// ClientQuota sets or removes one quota of one entity.
type ClientQuota struct {
	Entity []QuotaEntity
	Name   string
	Value  float64
	Remove bool
	Tags   []Tag
}

// Key is the record's type.
func (*ClientQuota) Key() Key { return KeyClientQuota }

// Latest is the newest version.
func (*ClientQuota) Latest() int16 { return 0 }

func (r *ClientQuota) code(c *coder, _ int16) {
	list(c, &r.Entity, false, 3, func(e *QuotaEntity) {
		c.string(&e.Type)
		c.nullableString(&e.Name)
		c.tags(&e.Tags)
	})
	c.string(&r.Name)
	c.float64(&r.Value)
	c.bool(&r.Remove)
	c.tags(&r.Tags)
}

// AccessControlEntry puts an ACL by its id.
type AccessControlEntry struct {
	ID             UUID
	ResourceType   int8
	ResourceName   string
	PatternType    int8
	Principal      string
	Host           string
	Operation      int8
	PermissionType int8
	Tags           []Tag
}

// Key is the record's type.
func (*AccessControlEntry) Key() Key { return KeyAccessControlEntry }

// Latest is the newest version.
func (*AccessControlEntry) Latest() int16 { return 0 }

func (r *AccessControlEntry) code(c *coder, _ int16) {
	c.uuid(&r.ID)
	c.int8(&r.ResourceType)
	c.string(&r.ResourceName)
	c.int8(&r.PatternType)
	c.string(&r.Principal)
	c.string(&r.Host)
	c.int8(&r.Operation)
	c.int8(&r.PermissionType)
	c.tags(&r.Tags)
}

// RemoveAccessControlEntry removes an ACL.
type RemoveAccessControlEntry struct {
	ID   UUID
	Tags []Tag
}

// Key is the record's type.
func (*RemoveAccessControlEntry) Key() Key { return KeyRemoveAccessControlEntry }

// Latest is the newest version.
func (*RemoveAccessControlEntry) Latest() int16 { return 0 }

func (r *RemoveAccessControlEntry) code(c *coder, _ int16) {
	c.uuid(&r.ID)
	c.tags(&r.Tags)
}

// ZkMigrationState is how far a migration from ZooKeeper is.
type ZkMigrationState struct {
	State int8
	Tags  []Tag
}

// Key is the record's type.
func (*ZkMigrationState) Key() Key { return KeyZkMigrationState }

// Latest is the newest version.
func (*ZkMigrationState) Latest() int16 { return 0 }

func (r *ZkMigrationState) code(c *coder, _ int16) {
	c.int8(&r.State)
	c.tags(&r.Tags)
}

// BeginTransaction opens a metadata transaction.
type BeginTransaction struct {
	Name *string
	Tags []Tag
}

// Key is the record's type.
func (*BeginTransaction) Key() Key { return KeyBeginTransaction }

// Latest is the newest version.
func (*BeginTransaction) Latest() int16 { return 0 }

func (r *BeginTransaction) code(c *coder, _ int16) {
	c.tags(&r.Tags, tag{0, r.Name != nil, func() { c.nullableString(&r.Name) }})
}

// EndTransaction makes a metadata transaction's records visible.
type EndTransaction struct{ Tags []Tag }

// Key is the record's type.
func (*EndTransaction) Key() Key { return KeyEndTransaction }

// Latest is the newest version.
func (*EndTransaction) Latest() int16 { return 0 }

func (r *EndTransaction) code(c *coder, _ int16) { c.tags(&r.Tags) }

// AbortTransaction drops a metadata transaction's records.
type AbortTransaction struct {
	Reason *string
	Tags   []Tag
}

// Key is the record's type.
func (*AbortTransaction) Key() Key { return KeyAbortTransaction }

// Latest is the newest version.
func (*AbortTransaction) Latest() int16 { return 0 }

func (r *AbortTransaction) code(c *coder, _ int16) {
	c.tags(&r.Tags, tag{0, r.Reason != nil, func() { c.nullableString(&r.Reason) }})
}

// RemoveDelegationToken removes a token.
type RemoveDelegationToken struct {
	TokenID string
	Tags    []Tag
}

// Key is the record's type.
func (*RemoveDelegationToken) Key() Key { return KeyRemoveDelegationToken }

// Latest is the newest version.
func (*RemoveDelegationToken) Latest() int16 { return 0 }

func (r *RemoveDelegationToken) code(c *coder, _ int16) {
	c.string(&r.TokenID)
	c.tags(&r.Tags)
}

// RegisterController replaces a controller's registration.
type RegisterController struct {
	ControllerID     NodeID
	IncarnationID    UUID
	ZkMigrationReady bool
	EndPoints        []EndPoint
	Features         []Feature
	Tags             []Tag
}

// Key is the record's type.
func (*RegisterController) Key() Key { return KeyRegisterController }

// Latest is the newest version.
func (*RegisterController) Latest() int16 { return 0 }

func (r *RegisterController) code(c *coder, _ int16) {
	c.node(&r.ControllerID)
	c.uuid(&r.IncarnationID)
	c.bool(&r.ZkMigrationReady)
	c.endPoints(&r.EndPoints)
	c.features(&r.Features)
	c.tags(&r.Tags)
}

// ClearELR empties the eligible leader replicas of a topic, of all topics if the name is empty.
type ClearELR struct {
	TopicName string
	Tags      []Tag
}

// Key is the record's type.
func (*ClearELR) Key() Key { return KeyClearELR }

// Latest is the newest version.
func (*ClearELR) Latest() int16 { return 0 }

func (r *ClearELR) code(c *coder, _ int16) {
	c.string(&r.TopicName)
	c.tags(&r.Tags)
}

// UnregisterController removes a controller's registration.
type UnregisterController struct {
	ControllerID NodeID
	Tags         []Tag
}

// Key is the record's type.
func (*UnregisterController) Key() Key { return KeyUnregisterController }

// Latest is the newest version.
func (*UnregisterController) Latest() int16 { return 0 }

func (r *UnregisterController) code(c *coder, _ int16) {
	c.node(&r.ControllerID)
	c.tags(&r.Tags)
}
