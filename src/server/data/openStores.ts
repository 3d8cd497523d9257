import { TokenUses } from '../../rules/api/index.ts';
import type { RulesStorage } from '../../rules/index.ts';
import type { ServerContext } from '../base.ts';
import { openRulesStorage } from './rulesStorage.ts';

export interface Stores {
  /** Undefined if no role of this server needs rules or API keys. */
  readonly storage: RulesStorage | undefined;
  /** Tracks the last uses of the tokens of the rules API. */
  readonly tokenUses: TokenUses | undefined;
}

export async function openStores({
  config,
  logger,
  registry,
  opened,
  teardown,
}: ServerContext): Promise<Stores> {
  if (!opened.has('rulesStore')) return { storage: undefined, tokenUses: undefined };
  const rules = await openRulesStorage(config, { logger, registry, opened });
  teardown.add(() => rules.close());
  const { storage } = rules;
  const tokenUses = new TokenUses(storage.tokens);
  teardown.add(() => tokenUses.stop());
  return { storage, tokenUses };
}
