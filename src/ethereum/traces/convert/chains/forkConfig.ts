import type { Address } from '../../index.ts';
import type { ParseContext } from '../json/parseContext.ts';
import { readAddress } from '../json/readHex.ts';
import { asObject, countUpTo, type Members } from '../json/readJson.ts';
import { TraceFormatError } from '../json/traceFormatError.ts';
import { FORKS, type Fork } from './forks.ts';
import { precompilesUnder } from './precompiles.ts';

/** Rules of the blocks from a timestamp on, as a node reports them. */
export interface ReportedRules {
  /** Timestamp of the first block, in seconds since 1970. */
  readonly since: number;
  readonly fork: Fork;
  readonly precompiles: ReadonlySet<Address>;
}

/** Maximum number of contracts of one kind. Ethereum has 18 precompiled contracts; chains have some more. */
const MAX_CONTRACTS = 256;
const asTimestamp = countUpTo(Number.MAX_SAFE_INTEGER);
/** Name of a system contract of Amsterdam (EIP-8282). Amsterdam adds no precompiled contract. */
const OF_AMSTERDAM = /^BUILDER_DEPOSIT_CONTRACT/;

/**
 * Returns the rules in a result of `eth_config` (EIP-7910): the rules of the current fork and, if one is scheduled, of
 * the next. The result does not name forks, so they are recognised by their contracts.
 *
 * @throws TraceFormatError naming the invalid member.
 */
export function parseForkConfig(answer: unknown): readonly ReportedRules[] {
  const place: ParseContext = { what: 'eth_config', index: -1 };
  const { current, next } = asObject(answer, place, '');
  return [current, next].flatMap((config) =>
    config === null || config === undefined ? [] : [rulesOf(asObject(config, place, 'fork'), place)],
  );
}

function rulesOf(config: Members, place: ParseContext): ReportedRules {
  const precompiles = new Set(
    entriesOf(config, 'precompiles', place).map(([name, contract]) =>
      readAddress(contract, place, `precompiles.${name}`),
    ),
  );
  const system = entriesOf(config, 'systemContracts', place);
  const isAmsterdam = system.some(([name]) => OF_AMSTERDAM.test(name));
  const hasAll = (fork: Fork) => [...precompilesUnder(fork)].every((contract) => precompiles.has(contract));
  const known = FORKS.findLast((fork) => fork !== 'amsterdam' && hasAll(fork)) ?? 'frontier';
  return {
    since: asTimestamp(config['activationTime'], place, 'activationTime'),
    fork: known === 'osaka' && isAmsterdam ? 'amsterdam' : known,
    precompiles,
  };
}

function entriesOf(config: Members, member: string, place: ParseContext): [name: string, value: unknown][] {
  const entries = Object.entries(asObject(config[member], place, member));
  if (entries.length > MAX_CONTRACTS)
    throw new TraceFormatError(place, member, {
      expected: `at most ${MAX_CONTRACTS} contracts`,
      got: entries.length,
    });
  return entries;
}
