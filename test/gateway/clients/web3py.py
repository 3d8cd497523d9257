"""Uses web3.py with its defaults, as an application does, and prints the results as JSON."""

import asyncio
import json
import sys
import time

from eth_account import Account
from web3 import AsyncWeb3, Web3, WebSocketProvider
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


def stored_value(value):
    # set(uint256), which logs its argument.
    return mined({"to": contract, "data": "0x60fe47b1" + value.to_bytes(32, "big").hex()})


def value_of(log):
    return int(log["data"].hex(), 16)


polled = w3.eth.filter({"address": contract})
stored = stored_value(42)
entries = []
while not entries:
    time.sleep(0.05)
    entries = polled.get_new_entries()
w3.eth.uninstall_filter(polled.filter_id)
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


async def subscribed():
    """Returns the values logged over a WebSocket after the head of the block with a new value was received."""
    async with AsyncWeb3(WebSocketProvider(url.replace("http", "ws", 1))) as socket:
        heads = await socket.eth.subscribe("newHeads")
        await socket.eth.subscribe("logs", {"address": contract})
        receipt = await asyncio.to_thread(stored_value, 43)
        numbers, values = [], []
        async for message in socket.socket.process_subscriptions():
            if message["subscription"] == heads:
                numbers.append(message["result"]["number"])
            else:
                values.append(value_of(message["result"]))
            if values and receipt["blockNumber"] in numbers:
                return values


print(
    json.dumps(
        {
            "chainId": w3.eth.chain_id,
            "statuses": [receipt["status"] for receipt in (paid, stored)],
            "received": after - before,
            "logs": [value_of(log) for log in logs],
            "polled": [value_of(log) for log in entries],
            "subscribed": asyncio.run(subscribed()),
            "revertsWithReason": "execution reverted: no" in reverted,
            "batched": block["number"] >= stored["blockNumber"],
        }
    )
)
