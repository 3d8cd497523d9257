/**
 * Names and decodes calls, results, errors and events. This file is loaded later than the page, because it contains
 * viem's ABIs and codec. All data is untrusted: data that does not fit an ABI is never decoded in part.
 */
import {
  type AbiParameter,
  decodeAbiParameters,
  erc20Abi,
  erc20Abi_bytes32,
  erc721Abi,
  erc1155Abi,
  erc4626Abi,
  getAddress,
  type Hex,
  keccak256,
  multicall3Abi,
  stringToHex,
} from 'viem';
import { formatAbiParams } from 'viem/utils';

const STANDARD_ABIS: readonly (readonly unknown[])[] = [
  erc20Abi,
  erc20Abi_bytes32,
  erc721Abi,
  erc1155Abi,
  erc4626Abi,
  multicall3Abi,
];

/** Names that the operator configured: ABIs by address, `*` for any address, and labels of addresses. */
export interface NameFiles {
  readonly abis: Readonly<Record<string, readonly unknown[]>>;
  readonly labels: Readonly<Record<string, string>>;
}

/** A decoded value. Arrays and tuples have parts instead of a value. */
export interface Argument {
  readonly name: string;
  readonly type: string;
  readonly value: string;
  readonly parts: readonly Argument[];
  /** Number of elements that are not in `parts`, because there are too many. */
  readonly left: number;
}

export interface Decoded {
  readonly name: string;
  readonly signature: string;
  /** True if the operator's ABI of this contract contains it. False if only the selector or topic is equal. */
  readonly isVerified: boolean;
  /** Undefined if the data does not fit the signature. */
  readonly args: readonly Argument[] | undefined;
}

type Parameter = AbiParameter & { readonly indexed?: boolean };

interface Entry {
  readonly kind: string;
  readonly name: string;
  readonly signature: string;
  readonly isVerified: boolean;
  readonly inputs: readonly Parameter[];
  readonly outputs: readonly Parameter[];
}

const MAX_PARTS = 50;
const MAX_CHARACTERS = 1_000;
/** Characters of `0x` and a selector of four bytes. */
const SELECTOR_CHARACTERS = 10;
const selectorOf = (data: string): string => data.slice(0, SELECTOR_CHARACTERS);
const argumentsOf = (data: string): string => `0x${data.slice(SELECTOR_CHARACTERS)}`;
const hex = (text: string): Hex => text as Hex; // the gateway returns bytes as hex digits

export class Decoder {
  readonly #labels: NameFiles['labels'];
  /** Entries by kind, address (`*` for any) and selector or topic. Different signatures can have equal selectors. */
  readonly #entries = new Map<string, Entry[]>();

  constructor({ abis, labels }: NameFiles) {
    this.#labels = labels;
    for (const abi of STANDARD_ABIS) this.#add('*', abi);
    for (const [address, abi] of Object.entries(abis)) this.#add(address, abi);
  }

  labelOf(address: string): string | undefined {
    return Object.hasOwn(this.#labels, address) ? this.#labels[address] : undefined;
  }

  /** Returns an address with the checksum case of EIP-55. Other text is returned unchanged. */
  checksummed(address: string): string {
    return /^0x[0-9a-f]{40}$/.test(address) ? getAddress(address) : address;
  }

  /** Returns only the names of the functions that a call may have called. It decodes nothing. */
  callNames(to: string, input: string): readonly Omit<Decoded, 'args'>[] {
    return this.#find('function', to, selectorOf(input));
  }

  call(to: string, input: string): Decoded[] {
    return this.#decoded('function', to, input);
  }

  result(to: string, input: string, output: string): Decoded[] {
    return this.#find('function', to, selectorOf(input))
      .filter(({ outputs }) => outputs.length > 0)
      .map((entry) => ({ ...entry, args: decode(entry.outputs, output) }));
  }

  error(to: string, output: string): Decoded[] {
    return this.#decoded('error', to, output);
  }

  /** Returns the events that a log may be. ERC-20 and ERC-721 have events that differ only in what is indexed. */
  event(address: string, topics: readonly string[], data: string): Decoded[] {
    return this.#find('event', address, topics[0] ?? '')
      .filter(({ inputs }) => inputs.filter(({ indexed }) => indexed).length === topics.length - 1)
      .map((entry) => ({ ...entry, args: decodeLog(entry.inputs, topics.slice(1), data) }));
  }

  #decoded(kind: 'function' | 'error', to: string, data: string): Decoded[] {
    const args = argumentsOf(data);
    return this.#find(kind, to, selectorOf(data)).map((entry) => ({
      ...entry,
      args: decode(entry.inputs, args),
    }));
  }

  #find(kind: string, address: string, selector: string): readonly Entry[] {
    const of = (owner: string) => this.#entries.get(`${kind} ${owner} ${selector}`);
    return of(address) ?? of('*') ?? [];
  }

  #add(address: string, abi: readonly unknown[]): void {
    for (const item of abi) {
      const entry = entryOf(item, address !== '*');
      if (entry === undefined) continue;
      const hash = keccak256(stringToHex(entry.signature));
      const key = `${entry.kind} ${address} ${entry.kind === 'event' ? hash : selectorOf(hash)}`;
      const known = this.#entries.get(key) ?? [];
      if (!known.some((one) => isSame(one, entry))) this.#entries.set(key, [...known, entry]);
    }
  }
}

/** Returns an item of an ABI. The operator's files contain any JSON: other items are skipped. */
function entryOf(item: unknown, isVerified: boolean): Entry | undefined {
  const { type: kind, name, inputs = [], outputs = [] } = item as Partial<Entry> & { readonly type?: string };
  if (name === undefined || kind === undefined || !['function', 'event', 'error'].includes(kind))
    return undefined;
  try {
    const signature = `${name}(${formatAbiParams(inputs)})`;
    formatAbiParams(outputs);
    return { kind, name, signature, isVerified, inputs, outputs };
  } catch {
    return undefined;
  }
}

/** Two events with one signature differ if other parameters are indexed, and two functions if their results differ. */
const isSame = (one: Entry, other: Entry): boolean =>
  one.signature === other.signature &&
  String(one.inputs.map(({ indexed }) => indexed)) === String(other.inputs.map(({ indexed }) => indexed)) &&
  formatAbiParams(one.outputs) === formatAbiParams(other.outputs);

function decode(parameters: readonly Parameter[], data: string): Argument[] | undefined {
  if (parameters.length === 0) return data === '0x' ? [] : undefined;
  try {
    const values: readonly unknown[] = decodeAbiParameters(parameters, hex(data));
    return parameters.map((parameter, i) => argumentOf(parameter, values[i]));
  } catch {
    return undefined;
  }
}

function decodeLog(
  parameters: readonly Parameter[],
  topics: readonly string[],
  data: string,
): Argument[] | undefined {
  const plain = parameters.filter(({ indexed }) => !indexed);
  const rest = decode(plain, data);
  if (rest === undefined) return undefined;
  const unused = [...topics];
  const args = parameters.map((parameter) => {
    if (!parameter.indexed) return rest.shift();
    const topic = unused.shift() ?? '0x';
    // A topic contains only the hash of a value that may be longer than 32 bytes.
    const isHash = /^(string|bytes|tuple.*|.*\])$/.test(parameter.type);
    return isHash
      ? { name: parameter.name ?? '', type: `hash of ${parameter.type}`, value: topic, parts: [], left: 0 }
      : decode([parameter], topic)?.[0];
  });
  return args.every((one) => one !== undefined) ? args : undefined;
}

function argumentOf(parameter: Parameter, value: unknown): Argument {
  const { name = '', type } = parameter;
  const array = /^(.*)\[\d*\]$/.exec(type);
  if (array !== null && Array.isArray(value)) {
    const element = { ...parameter, name: '', type: array[1] ?? '' };
    const parts = value.slice(0, MAX_PARTS).map((one, i) => argumentOf({ ...element, name: `[${i}]` }, one));
    return { name, type: formatAbiParams([parameter]), value: '', parts, left: value.length - parts.length };
  }
  if ('components' in parameter && typeof value === 'object' && value !== null) {
    // viem returns a tuple as an array if one of its members has no name.
    const members = value as Record<string, unknown>;
    const parts = parameter.components.map((one, i) =>
      argumentOf(one, Array.isArray(value) ? value[i] : members[one.name ?? '']),
    );
    return { name, type: formatAbiParams([parameter]), value: '', parts, left: 0 };
  }
  const text = String(value);
  const isLong = text.length > MAX_CHARACTERS;
  return { name, type, value: isLong ? `${text.slice(0, MAX_CHARACTERS)}…` : text, parts: [], left: 0 };
}
