/** The subject of the page Traces (an address, transaction or block) and its network, which the URL contains. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { useLocation, useSearch } from 'wouter-preact';
import { gateway } from '../../api/gateway.ts';

export interface Subject {
  readonly kind: 'address' | 'transaction' | 'block' | 'none';
  readonly id: string;
}

const ADDRESS = /^0x[0-9a-f]{40}$/;
const HASH = /^0x[0-9a-f]{64}$/;
const MAX_BLOCK_DIGITS = 15;

/** Parses a subject that the user typed or pasted. Returns undefined if it is no address, hash or block. */
export function subjectOf(text: string): Subject | undefined {
  const bare = text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s,_#]/g, '');
  const hex = /^[0-9a-f]{40}$|^[0-9a-f]{64}$/.test(bare) ? `0x${bare}` : bare;
  if (ADDRESS.test(hex)) return { kind: 'address', id: hex };
  if (HASH.test(hex)) return { kind: 'transaction', id: hex };
  if (['latest', 'safe', 'finalized', 'earliest'].includes(bare)) return { kind: 'block', id: bare };
  if (/^\d+$/.test(bare) && bare.length <= MAX_BLOCK_DIGITS)
    return { kind: 'block', id: String(Number(bare)) };
  if (/^0x[0-9a-f]{1,12}$/.test(bare)) return { kind: 'block', id: String(Number.parseInt(bare, 16)) };
  return undefined;
}

/** Returns the subject in the URL. Its kind is `none` if the URL has no id, or an unknown form of id. */
export function useSubject(): Subject {
  const [, , kind, id = ''] = useLocation()[0].split('/');
  const subject = subjectOf(id);
  return subject && subject.kind === kind ? subject : { kind: 'none', id };
}

export const pathOfSubject = ({ kind, id }: Subject): string =>
  kind === 'none' ? '/traces' : `/traces/${kind}/${id}`;

/** Returns the query of the current URL without the account, which `hrefOf` adds to each link. */
export function useQuery(): URLSearchParams {
  const query = new URLSearchParams(useSearch());
  query.delete('account');
  return query;
}

/** Returns the network that the URL selects. Default: the gateway's first network. */
export function useWantedNetwork(): string | undefined {
  const networks = gateway.value?.networks.map(({ network }) => network) ?? [];
  const wanted = useQuery().get('network');
  return networks.find((network) => network === wanted) ?? networks[0];
}

export const ShownNetwork = createContext('');
export const useNetwork = (): string => useContext(ShownNetwork);

/** Returns a path with the network in its query. The first network is the default and is omitted. */
export function withNetwork(path: string, network: string | undefined): string {
  const isFirst = network === undefined || gateway.value?.networks[0]?.network === network;
  return path + (isFirst ? '' : `?network=${encodeURIComponent(network)}`);
}

export const linkTo = (subject: Subject, network: string): string =>
  withNetwork(pathOfSubject(subject), network);

export const pathOfBlock = (block: number, network: string): string =>
  linkTo({ kind: 'block', id: String(block) }, network);
