import type { Tagged } from '../../api/collection.ts';
import type { Failure } from '../../api/failure.ts';
import { ruleCalls } from '../../api/rules.ts';
import type { Rule } from '../../api/types.ts';
import { confirm } from '../../ui/form/confirm.tsx';
import { showToast } from '../../ui/toast.tsx';
import { type Mode, modeEffects, scopeText } from './texts.ts';

/** Sets the mode of a rule after a confirmation, unless the rule was changed since it was read. Offers to undo it. */
export async function changeMode(tagged: Tagged<Rule>, mode: Mode): Promise<Failure | undefined> {
  const rule = tagged.item;
  if (mode === rule.mode) return undefined;
  const place = scopeText(rule);
  const isWanted = await confirm({
    title: `Set the rule for ${place} to ${mode}?`,
    text: `Now it is ${rule.mode}: ${modeEffects[rule.mode]}. From the next query on, ${modeEffects[mode]}. You can undo this for 10 seconds.`,
    action: `Set to ${mode}`,
  });
  if (!isWanted) return undefined;
  const outcome = await ruleCalls.update(tagged, { mode });
  if ('failure' in outcome) return outcome.failure;
  showToast(
    `The rule for ${place} is now ${mode} (was ${rule.mode}).`,
    () => void undoMode(outcome.value, rule.mode),
  );
  return undefined;
}

async function undoMode(changed: Tagged<Rule>, mode: Mode): Promise<void> {
  const outcome = await ruleCalls.update(changed, { mode });
  const place = scopeText(changed.item);
  if ('failure' in outcome) showToast(`Not undone. ${outcome.failure.what} ${outcome.failure.todo}`);
  else showToast(`Undone: the rule for ${place} is ${mode} again.`);
}
