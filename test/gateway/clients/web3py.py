"""What an application does with web3.py's defaults; prints what it saw as JSON."""

import json
import sys

from eth_account import Account
from web3 import Web3
from web3.exceptions import Web3Exception
from web3.middleware import SignAndSendRawMiddlewareBuilder

url, key, other, bytecode = sys.argv[1:]
w3 = Web3(Web3.HTTPProvider(url))
account = Account.from_key(key)
w3.middleware_onion.inject(SignAndSendRawMiddlewareBuilder.build(account), layer=0)


def mined(transaction):
    sent = w3.eth.send_transaction({"from": account.address, **transaction})
    return w3.eth.wait_for_transaction_receipt(sent, poll_latency=0.05)


before = w3.eth.get_balance(other)
paid = mined({"to": other, "value": 7})
contract = mined({"data": bytecode})["contractAddress"]
# set(uint256), which logs its argument.
stored = mined({"to": contract, "data": "0x60fe47b1" + (42).to_bytes(32, "big").hex()})
logs = w3.eth.get_logs({"address": contract, "fromBlock": paid["blockNumber"], "toBlock": "latest"})

try:
    # fail(), which reverts with Error("no").
    w3.eth.call({"to": contract, "data": "0xa9cc4718"})
    reverted = "it did not revert"
except Web3Exception as error:
    reverted = str(error)

with w3.batch_requests() as batch:
    batch.add(w3.eth.get_block("latest"))
    batch.add(w3.eth.get_balance(other))
    block, after = batch.execute()

print(
    json.dumps(
        {
            "chainId": w3.eth.chain_id,
            "statuses": [receipt["status"] for receipt in (paid, stored)],
            "received": after - before,
            "logs": [int(log["data"].hex(), 16) for log in logs],
            "revertsWithReason": "execution reverted: no" in reverted,
            "batched": block["number"] >= stored["blockNumber"],
        }
    )
)
