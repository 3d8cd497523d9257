// Uses go-ethereum's ethclient with its defaults, as an application does, and prints the results as JSON.
package main

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/accounts/abi/bind"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/rpc"
)

const contractABI = `[{"type":"function","name":"set","stateMutability":"nonpayable","inputs":[{"name":"value","type":"uint256"}],"outputs":[]},
{"type":"function","name":"fail","stateMutability":"view","inputs":[],"outputs":[]}]`

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	url, key, other, bytecode := os.Args[1], os.Args[2], common.HexToAddress(os.Args[3]), common.FromHex(os.Args[4])
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := must(ethclient.DialContext(ctx, url))
	chainID := must(client.ChainID(ctx))
	private := must(crypto.HexToECDSA(strings.TrimPrefix(key, "0x")))
	auth := must(bind.NewKeyedTransactorWithChainID(private, chainID))
	parsed := must(abi.JSON(strings.NewReader(contractABI)))

	before := must(client.BalanceAt(ctx, other, nil))
	paid := mined(ctx, client, pay(ctx, client, private, other))
	address, deployment, contract, err := bind.DeployContract(auth, parsed, bytecode, client)
	if err != nil {
		panic(err)
	}
	mined(ctx, client, deployment)
	stored := mined(ctx, client, must(contract.Transact(auth, "set", big.NewInt(42))))
	logs := must(client.FilterLogs(ctx, ethereum.FilterQuery{FromBlock: paid.BlockNumber, Addresses: []common.Address{address}}))
	values := []uint64{}
	for _, log := range logs {
		values = append(values, new(big.Int).SetBytes(log.Data).Uint64())
	}
	reverted := contract.Call(&bind.CallOpts{}, nil, "fail")
	receipts := must(client.BlockReceipts(ctx, rpc.BlockNumberOrHashWithHash(stored.BlockHash, false)))

	var number, balance hexutil.Big
	batch := []rpc.BatchElem{
		{Method: "eth_blockNumber", Result: &number},
		{Method: "eth_getBalance", Args: []any{other, "latest"}, Result: &balance},
	}
	if err := client.Client().BatchCallContext(ctx, batch); err != nil {
		panic(err)
	}
	after := (*big.Int)(&balance)
	subscribed := subscribed(ctx, strings.Replace(url, "http", "ws", 1), address, func() *types.Receipt {
		return mined(ctx, client, must(contract.Transact(auth, "set", big.NewInt(43))))
	})
	seen := map[string]any{
		"chainId":           chainID,
		"statuses":          []uint64{paid.Status, stored.Status},
		"received":          new(big.Int).Sub(after, before),
		"logs":              values,
		"subscribed":        subscribed,
		"receipts":          len(receipts),
		"revertsWithReason": reverted != nil && strings.HasSuffix(reverted.Error(), "no"),
		"batched":           (*big.Int)(&number).Cmp(stored.BlockNumber) >= 0,
	}
	fmt.Println(string(must(json.Marshal(seen))))
}

// subscribed subscribes to heads and logs over a WebSocket, stores a value and returns the logged values
// after the head of its block was received.
func subscribed(ctx context.Context, url string, address common.Address, store func() *types.Receipt) []uint64 {
	client := must(ethclient.DialContext(ctx, url))
	defer client.Close()
	heads, logs := make(chan *types.Header, 64), make(chan types.Log, 64)
	ofHeads := must(client.SubscribeNewHead(ctx, heads))
	ofLogs := must(client.SubscribeFilterLogs(ctx, ethereum.FilterQuery{Addresses: []common.Address{address}}, logs))
	receipt := store()
	values := []uint64{}
	for hasHead := false; !hasHead || len(values) == 0; {
		select {
		case head := <-heads:
			hasHead = hasHead || head.Hash() == receipt.BlockHash
		case log := <-logs:
			values = append(values, new(big.Int).SetBytes(log.Data).Uint64())
		case err := <-ofHeads.Err():
			panic(err)
		case err := <-ofLogs.Err():
			panic(err)
		case <-ctx.Done():
			panic(ctx.Err())
		}
	}
	return values
}

// pay sends 7 wei with the fees suggested by the node.
func pay(ctx context.Context, client *ethclient.Client, private *ecdsa.PrivateKey, to common.Address) *types.Transaction {
	chainID := must(client.ChainID(ctx))
	from := crypto.PubkeyToAddress(private.PublicKey)
	tip := must(client.SuggestGasTipCap(ctx))
	header := must(client.HeaderByNumber(ctx, nil))
	cap := new(big.Int).Add(tip, new(big.Int).Mul(header.BaseFee, big.NewInt(2)))
	value := big.NewInt(7)
	gas := must(client.EstimateGas(ctx, ethereum.CallMsg{From: from, To: &to, Value: value}))
	transaction := types.MustSignNewTx(private, types.LatestSignerForChainID(chainID), &types.DynamicFeeTx{
		ChainID: chainID, Nonce: must(client.PendingNonceAt(ctx, from)), GasTipCap: tip, GasFeeCap: cap, Gas: gas, To: &to, Value: value,
	})
	if err := client.SendTransaction(ctx, transaction); err != nil {
		panic(err)
	}
	return transaction
}

func mined(ctx context.Context, client *ethclient.Client, transaction *types.Transaction) *types.Receipt {
	return must(bind.WaitMined(ctx, client, transaction))
}
