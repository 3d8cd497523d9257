// Runs a geth in memory, with a tracer that reports the exact gas of all frames: exactgeth GENESIS_FILE. Prints the URL
// of its JSON-RPC server, and runs until it receives a signal.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"os"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/eth"
	"github.com/ethereum/go-ethereum/eth/catalyst"
	"github.com/ethereum/go-ethereum/eth/ethconfig"
	"github.com/ethereum/go-ethereum/eth/tracers"
	_ "github.com/ethereum/go-ethereum/eth/tracers/native"
	"github.com/ethereum/go-ethereum/node"
	"github.com/ethereum/go-ethereum/p2p"
	"github.com/ethereum/go-ethereum/rpc"
)

// searchAPI lets the test decide which transactions are in a block.
type searchAPI struct{ beacon *catalyst.SimulatedBeacon }

// Mine makes a block of the pending transactions, and drops those that were not included.
func (api *searchAPI) Mine() common.Hash {
	defer api.beacon.Rollback()
	return api.beacon.Commit()
}

func main() {
	tracers.DefaultDirectory.Register("exactTracer", newExactTracer, false)
	stack, err := start(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", stack.HTTPEndpoint())
	stack.Wait()
}

func start(genesisFile string) (*node.Node, error) {
	text, err := os.ReadFile(genesisFile)
	if err != nil {
		return nil, err
	}
	genesis := new(core.Genesis)
	if err := json.Unmarshal(text, genesis); err != nil {
		return nil, err
	}
	maps.Copy(genesis.Alloc, core.SystemContractAllocs())
	config := node.DefaultConfig
	config.DataDir, config.IPCPath, config.AuthPort = "", "", 0
	config.P2P = p2p.Config{NoDiscovery: true}
	config.HTTPHost, config.HTTPPort = "127.0.0.1", 0
	config.HTTPModules = []string{"eth", "debug", "net", "web3", "search"}
	stack, err := node.New(&config)
	if err != nil {
		return nil, err
	}
	options := ethconfig.Defaults
	options.Genesis = genesis
	options.SyncMode = ethconfig.FullSync
	options.NoPruning = true
	options.StateScheme = rawdb.HashScheme
	options.TxPool.PriceLimit = 1
	options.Miner.GasPrice = common.Big1
	backend, err := eth.New(stack, &options)
	if err != nil {
		return nil, err
	}
	beacon, err := catalyst.NewSimulatedBeacon(0, common.Address{}, backend)
	if err != nil {
		return nil, err
	}
	stack.RegisterAPIs(tracers.APIs(backend.APIBackend))
	stack.RegisterAPIs([]rpc.API{{Namespace: "search", Service: &searchAPI{beacon}}})
	return stack, stack.Start()
}
