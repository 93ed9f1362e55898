package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
)

// failure is a server's answer: its code and, when it gave one, its message.
type failure struct {
	code    int16
	message string
}

// Error is the message that Apache's tools print: the server's own, else the code's usual text.
func (f *failure) Error() string {
	if f.message != "" {
		return f.message
	}
	if e, ok := errors.AsType[*kerr.Error](kerr.ErrorForCode(f.code)); ok {
		return e.Description
	}
	return fmt.Sprintf("error code %d", f.code)
}

// answer is nil for code 0.
func answer(code int16, message *string) error {
	if code == 0 {
		return nil
	}
	f := &failure{code: code}
	if message != nil {
		f.message = *message
	}
	return f
}

// textOf is an error's message without its class.
func textOf(err error, call string) string {
	var k *kerr.Error
	var path *fs.PathError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "Timed out waiting for a node assignment. Call: " + call
	case errors.As(err, &k):
		return k.Description
	case isUnsupported(err):
		return "The node does not support this request."
	case errors.As(err, &path):
		return path.Path
	}
	return err.Error()
}

// classOf is an error's message after the name of Apache's exception, as Java prints a throwable.
func classOf(err error, call string) string {
	var f *failure
	var k *kerr.Error
	var path *fs.PathError
	text := textOf(err, call)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "org.apache.kafka.common.errors.TimeoutException: " + text
	case isUnsupported(err):
		return "org.apache.kafka.common.errors.UnsupportedVersionException: " + text
	case errors.As(err, &f):
		return exception(f.code) + ": " + text
	case errors.As(err, &k):
		return exception(k.Code) + ": " + text
	case errors.As(err, &path):
		return "java.nio.file.NoSuchFileException: " + text
	}
	return text
}

// exception names Apache's exception for an error code.
func exception(code int16) string {
	const prefix = "org.apache.kafka.common.errors."
	switch code {
	case -1:
		return prefix + "UnknownServerException"
	case 2:
		return prefix + "CorruptRecordException"
	case 7:
		return prefix + "TimeoutException"
	case 10:
		return prefix + "RecordTooLargeException"
	case 12:
		return prefix + "OffsetMetadataTooLarge"
	case 13:
		return prefix + "NetworkException"
	case 14:
		return prefix + "CoordinatorLoadInProgressException"
	case 17:
		return prefix + "InvalidTopicException"
	case 36:
		return prefix + "TopicExistsException"
	case 37:
		return prefix + "InvalidPartitionsException"
	case 40:
		return prefix + "InvalidConfigurationException"
	case 43:
		return prefix + "UnsupportedForMessageFormatException"
	case 44:
		return prefix + "PolicyViolationException"
	case 56:
		return prefix + "KafkaStorageException"
	case 68:
		return prefix + "GroupNotEmptyException"
	}
	e := kerr.TypedErrorForCode(code)
	if e == nil {
		return prefix + "UnknownServerException"
	}
	var b strings.Builder
	for word := range strings.SplitSeq(e.Message, "_") {
		if word != "" {
			b.WriteString(word[:1] + strings.ToLower(word[1:]))
		}
	}
	return prefix + b.String() + "Exception"
}
