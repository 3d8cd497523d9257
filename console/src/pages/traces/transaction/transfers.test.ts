import { encodeAbiParameters, encodeEventTopics, erc20Abi, erc721Abi, erc1155Abi, type Hex } from 'viem';
import { expect, it } from 'vitest';
import { Decoder } from '../names/decoder.ts';
import { symbolIn } from '../names/symbol.ts';
import type { Log } from '../types.ts';
import { transfersOf } from './transfers.ts';

const [TOKEN, FROM, TO] = ['aa', '01', '02'].map((byte) => `0x${byte.repeat(20)}`) as [Hex, Hex, Hex];
const decoder = new Decoder({ abis: {}, labels: {} });
const log = (topics: unknown, data: Hex, logIndex: Hex = '0x0') => ({
  address: TOKEN,
  topics: topics as Log['topics'],
  data,
  logIndex,
});
const uint = { type: 'uint256' } as const;

it('reads transfers of ERC-20, ERC-721 and ERC-1155 tokens from logs', () => {
  const parties = { from: FROM, to: TO };
  const logs = [
    log(
      encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: parties }),
      encodeAbiParameters([uint], [9n]),
    ),
    log(
      encodeEventTopics({ abi: erc721Abi, eventName: 'Transfer', args: { ...parties, tokenId: 5n } }),
      '0x',
    ),
    log(
      encodeEventTopics({ abi: erc1155Abi, eventName: 'TransferSingle', args: { operator: TO, ...parties } }),
      encodeAbiParameters([uint, uint], [3n, 4n]),
    ),
    log(
      encodeEventTopics({ abi: erc1155Abi, eventName: 'TransferBatch', args: { operator: TO, ...parties } }),
      encodeAbiParameters(
        [{ type: 'uint256[]' }, { type: 'uint256[]' }],
        [
          [1n, 2n],
          [10n, 20n],
        ],
      ),
    ),
  ];
  const transfers = transfersOf(logs, decoder);
  expect(transfers.map(({ id, amount }) => [id, amount])).toEqual([
    [undefined, 9n],
    ['5', 1n],
    ['3', 4n],
    ['1', 10n],
    ['2', 20n],
  ]);
  expect(new Set(transfers.map(({ token, from, to }) => `${token} ${from} ${to}`))).toEqual(
    new Set([`${TOKEN} ${FROM} ${TO}`]),
  );
});

it('ignores other logs, and logs whose data does not fit', () => {
  const [topic] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' }) as string[];
  expect(
    transfersOf(
      [log([], '0x'), log([topic], '0x'), log([topic, topic, topic], '0x12'), log(['0x1'], '0x')],
      decoder,
    ),
  ).toEqual([]);
});

it('reads symbols that are strings or 32 bytes, and limits them to 32 characters', () => {
  expect(symbolIn(encodeAbiParameters([{ type: 'string' }], ['USDC']))).toBe('USDC');
  expect(symbolIn(`0x${'4d4b52'.padEnd(64, '0')}`)).toBe('MKR');
  expect(symbolIn(encodeAbiParameters([{ type: 'string' }], ['𝒳'.repeat(100)]))).toBe('𝒳'.repeat(32));
  for (const output of ['0x', '0x00', `0x${'00'.repeat(32)}`, `0x${'ff'.repeat(64)}`, '0xzz'])
    expect(symbolIn(output)).toBeUndefined();
});
