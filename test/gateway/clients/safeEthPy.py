"""Reads traces with safe-eth-py and its defaults, as the indexer of the Safe Transaction Service does. Prints JSON."""

import json
import sys

from safe_eth.eth import EthereumClient
from web3 import Web3

url, head, address = sys.argv[1], int(sys.argv[2]), Web3.to_checksum_address(sys.argv[3])
client = EthereumClient(url)
# The indexer reads the newest blocks with trace_block, and older ones with trace_filter.
newest = list(range(max(1, head - 9), head + 1))


def ids(traces):
    return [
        [trace["transactionHash"].to_0x_hex(), ".".join(map(str, trace["traceAddress"])), trace["type"]]
        for trace in traces
    ]


found = client.tracing.trace_filter(from_block=1, to_block=head, to_address=[address])
hashes = list(dict.fromkeys(trace["transactionHash"] for trace in found))
transactions = client.tracing.trace_transactions(hashes)
paged = []
while page := client.tracing.trace_filter(
    from_block=1, to_block=head, to_address=[address], after=len(paged), count=3
):
    paged += page

print(
    json.dumps(
        {
            "chainId": client.get_chain_id(),
            "found": ids(found),
            "paged": ids(paged),
            "transactions": [ids(traces) for traces in transactions],
            "single": [ids(client.tracing.trace_transaction(hash)) for hash in hashes[:1]],
            "blocks": [ids(traces) for traces in client.tracing.trace_blocks(newest)],
            "succeeded": len(client.tracing.filter_out_errored_traces(transactions[0])),
            "receipts": len([r for r in client.get_transaction_receipts(hashes) if r]),
        }
    )
)
