import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  erc20Abi,
  erc721Abi,
  multicall3Abi,
  toFunctionSelector,
} from 'viem';
import { expect, it } from 'vitest';
import { Decoder } from './decoder.ts';

const TOKEN = `0x${'aa'.repeat(20)}` as const;
const ALICE = `0x${'0a'.repeat(20)}` as const;
const plain = new Decoder({ abis: {}, labels: {} });

it('decodes calls of standard contracts, and marks their names as unverified', () => {
  const input = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [ALICE, 7n] });
  const [decoded] = plain.call(TOKEN, input);
  expect(decoded).toMatchObject({
    name: 'transfer',
    signature: 'transfer(address,uint256)',
    isVerified: false,
  });
  expect(decoded?.args?.map(({ value }) => value.toLowerCase())).toEqual([ALICE, '7']);
  const nested = encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [[{ target: TOKEN, allowFailure: true, callData: input }]],
  });
  const call = plain.call(TOKEN, nested)[0]?.args?.[0]?.parts[0];
  expect(call?.parts.map(({ name }) => name)).toEqual(['target', 'allowFailure', 'callData']);
  expect(call?.parts[2]?.value).toBe(input);
});

it('tells transfers of ERC-20 and ERC-721 apart by their indexed parameters', () => {
  const fungible = plain.event(
    TOKEN,
    encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from: ALICE, to: TOKEN } }) as string[],
    encodeAbiParameters([{ type: 'uint256' }], [9n]),
  );
  expect(fungible.map(({ args }) => args?.map(({ value }) => value.toLowerCase()))).toEqual([
    [ALICE, TOKEN, '9'],
  ]);
  const unique = plain.event(
    TOKEN,
    encodeEventTopics({
      abi: erc721Abi,
      eventName: 'Transfer',
      args: { from: ALICE, to: TOKEN, tokenId: 5n },
    }) as string[],
    '0x',
  );
  expect(unique.map(({ args }) => args?.[2]?.value)).toEqual(['5']);
});

it('lists all functions with the selector of a call, and only the function of a verified contract', () => {
  // Both signatures have the selector 0xa9059cbb.
  const collision = { type: 'function', name: 'many_msg_babbage', inputs: [{ type: 'bytes1' }], outputs: [] };
  const files = { abis: { '*': [collision] }, labels: {} };
  const input = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [ALICE, 7n] });
  const both = new Decoder(files).call(TOKEN, input);
  expect(both.map(({ signature }) => signature)).toEqual([
    'transfer(address,uint256)',
    'many_msg_babbage(bytes1)',
  ]);
  const checked = new Decoder({ abis: { [TOKEN]: erc20Abi }, labels: {} });
  expect(checked.call(TOKEN, input)).toMatchObject([{ name: 'transfer', isVerified: true }]);
  expect(checked.call(ALICE, input)).toMatchObject([{ name: 'transfer', isVerified: false }]);
});

it('decodes no data that does not fit, and survives hostile data and files', () => {
  const selector = '0xa9059cbb';
  for (const rest of ['', 'ff', '00'.repeat(31)])
    expect(plain.call(TOKEN, selector + rest).map(({ args }) => args)).toEqual([undefined]);
  expect(plain.call(TOKEN, '0x')).toEqual([]);
  expect(plain.event(TOKEN, [], '0x')).toEqual([]);
  const strange = {
    abis: {
      [TOKEN]: [
        {},
        { type: 'function', name: 'a', inputs: [{ type: 'nonsense' }] },
        { type: 'error', name: 'b', inputs: 7 },
        { type: 'event', name: 'c', inputs: [null] },
      ],
    },
  };
  const decoder = new Decoder({ ...strange, labels: { [TOKEN]: 'Vault' } });
  expect(decoder.labelOf(TOKEN)).toBe('Vault');
  expect(decoder.checksummed('0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed')).toBe(
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  );
});

it('shortens long arrays and texts', () => {
  const many = {
    type: 'function',
    name: 'many',
    inputs: [{ name: 'ids', type: 'uint256[]' }, { type: 'string' }],
  };
  const decoder = new Decoder({ abis: { '*': [many] }, labels: {} });
  const data = encodeAbiParameters(
    [{ type: 'uint256[]' }, { type: 'string' }],
    [Array.from({ length: 60 }, (_, i) => BigInt(i)), 'x'.repeat(2_000)],
  );
  const selector = toFunctionSelector('many(uint256[],string)');
  const [args] = decoder.call(TOKEN, `${selector}${data.slice(2)}`).map((one) => one.args);
  expect([args?.[0]?.parts.length, args?.[0]?.left, args?.[1]?.value.length]).toEqual([50, 10, 1_001]);
});
