package bus

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// headerEncoding says that the data of a message is compressed.
const headerEncoding = "Settle-Encoding"

// compressFrom is the size from which a report is compressed: below it the
// processor's time costs more than the bytes.
const compressFrom = 64 << 10

// spare is left of the largest message for its subject and headers.
const spare = 4 << 10

// Encode returns a report as the data of a message of at most limit bytes. It
// sets the header when the data is compressed. Output and diffs of resources
// are dropped, and marked as cut, when the report is too large with them.
func Encode(report []byte, limit int, header map[string]string) ([]byte, error) {
	limit -= spare
	data, err := compress(report, header)
	if err != nil || len(data) <= limit {
		return data, err
	}
	short, err := dropOutput(report)
	if err != nil {
		return nil, err
	}
	if data, err = compress(short, header); err == nil && len(data) > limit {
		err = fmt.Errorf("the report has %d bytes without its output, more than a message may have", len(data))
	}
	return data, err
}

func compress(report []byte, header map[string]string) ([]byte, error) {
	delete(header, headerEncoding)
	if len(report) < compressFrom {
		return report, nil
	}
	header[headerEncoding] = "gzip"
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(report)
	return out.Bytes(), errors.Join(err, w.Close())
}

func dropOutput(report []byte) ([]byte, error) {
	var whole map[string]any
	if err := json.Unmarshal(report, &whole); err != nil {
		return nil, err
	}
	resources, _ := whole["resources"].([]any)
	for _, one := range resources {
		if resource, ok := one.(map[string]any); ok {
			resource["output"], resource["diff"], resource["output_truncated"] = "", "", true
		}
	}
	return json.Marshal(whole)
}

// maxReport bounds a report that is read from the bus, unpacked.
const maxReport = 64 << 20

// Report returns the report in a message.
func (m *Message) Report() ([]byte, error) {
	if m.Get(headerEncoding) != "gzip" {
		return m.Data, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(m.Data))
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxReport))
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	return text, nil
}
