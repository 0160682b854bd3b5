package model_test

import (
	"testing"
	"unsafe"

	"github.com/settle-cm/settle/model"
)

// A map keeps elements of up to 128 bytes in itself. A larger Value would cost
// an allocation for each property of each resource, a tenth of a load's time.
func TestValuesFitIntoMaps(t *testing.T) {
	if size := unsafe.Sizeof(model.Value{}); size > 128 {
		t.Errorf("a Value has %d bytes", size)
	}
}
