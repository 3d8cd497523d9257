import { ruleCalls } from '../../api/account.ts';
import type { Tagged } from '../../api/collection.ts';
import type { Outcome } from '../../api/failure.ts';
import type { Rule } from '../../api/types.ts';
import { confirm } from '../../ui/form/confirm.tsx';
import { showOutcome, showToast } from '../../ui/toast.tsx';
import { type Mode, modeEffects, scopeText } from './texts.ts';

/**
 * Sets the mode of a rule after a confirmation, unless the rule was changed since it was read, and offers to undo it.
 * Without `known`, the rule is read first.
 */
export async function changeMode(id: string, mode: Mode, known?: Tagged<Rule>): Promise<Outcome<unknown>> {
  const read = known === undefined ? await ruleCalls.read(id) : { value: known };
  if ('failure' in read) return read;
  const rule = read.value.item;
  const place = scopeText(rule);
  const isWanted =
    mode !== rule.mode &&
    (await confirm({
      title: `Set the rule for ${place} to ${mode}?`,
      text: `Now it is ${rule.mode}: ${modeEffects[rule.mode]}. From the next query on, ${modeEffects[mode]}. You can undo this for 10 seconds.`,
      action: `Set to ${mode}`,
    }));
  if (!isWanted) return { value: undefined };
  const outcome = await ruleCalls.update(read.value, { mode });
  if ('value' in outcome)
    showToast(`The rule for ${place} is now ${mode} (was ${rule.mode}).`, async () => {
      const undone = await ruleCalls.update(outcome.value, { mode: rule.mode });
      showOutcome(undone, `Undone: the rule for ${place} is ${rule.mode} again.`);
    });
  return outcome;
}
