package provision

import (
	"context"
	"fmt"
	"strings"

	"github.com/settle-cm/settle/resources/provision/contract"
)

// takeInventory gathers the facts, classes and files of the server.
func (s *server) takeInventory(ctx context.Context) (contract.Inventory, error) {
	inv := contract.Inventory{}
	var data []byte
	var err error
	switch {
	case s.inventory != nil:
		inv = *s.inventory
	case s.inventoryFile != "":
		var text string
		if text, err = s.read(s.inventoryFile); err != nil {
			err = fmt.Errorf("inventory_file: %w", err)
		}
		data = []byte(text)
	case len(s.inventoryCommand) > 0:
		data, err = s.outputOf(ctx, "inventory_command", s.inventoryCommand)
	default:
		inv, err = s.w.facts(ctx)
	}
	if err != nil {
		return inv, err
	}
	if data != nil {
		parsed, err := contract.ParseInventory(data)
		if err != nil {
			return inv, fmt.Errorf("%s: %w", s.inventorySource(), err)
		}
		inv = *parsed
	}
	inv.Upgradable = inv.Upgradable || s.features.Upgrades
	if version, err := s.runningVersion(ctx); err != nil || version != "" {
		inv.Version = version
		return inv, err
	}
	return inv, nil
}

// inventorySource names the declared source of the inventory in an error.
func (s *server) inventorySource() string {
	if s.inventoryFile != "" {
		return "inventory_file " + s.inventoryFile
	}
	return "inventory_command " + s.shown(s.inventoryCommand)
}

// runningVersion returns the version of the server, or "" without a declared source.
func (s *server) runningVersion(ctx context.Context) (string, error) {
	if len(s.versionCommand) == 0 {
		return s.version, nil
	}
	out, err := s.outputOf(ctx, "version_command", s.versionCommand)
	return strings.TrimSpace(string(out)), err
}
