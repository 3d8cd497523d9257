"""Queries the gateway with aioetherscan, as a script does, and prints the results as JSON."""

import asyncio
import json
import sys

from aioetherscan import Client
from aioetherscan.exceptions import EtherscanClientApiError

url, address, stranger = sys.argv[1:]


async def main():
    client = Client("YourApiKeyToken")
    client._url_builder.API_URL = url
    internal_txs = client.account.internal_txs
    pages = []
    try:
        whole = await internal_txs(address, sort="desc")
        for page in range(1, len(whole) // 5 + 2):
            try:
                pages += await internal_txs(address, 0, 99_999_999, sort="desc", page=page, offset=5)
            except EtherscanClientApiError:
                break
        try:
            none = await internal_txs(stranger)
        except EtherscanClientApiError as error:
            none = error.message
    finally:
        await client.close()
    return {"whole": whole, "pages": pages, "none": none}


print(json.dumps(asyncio.run(main())))
