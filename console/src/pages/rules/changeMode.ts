import type { Failure } from '../../api/failure.ts';
import { type TaggedRule, updateRule } from '../../api/rules.ts';
import { confirm } from '../../ui/confirm.tsx';
import { tell } from '../../ui/undo.tsx';
import { type Mode, modeWords, placeOf } from './words.ts';

/** Asks once, changes the mode of the rule as it was shown, says so, and offers to take it back. */
export async function changeMode(tagged: TaggedRule, mode: Mode): Promise<Failure | undefined> {
  const { rule } = tagged;
  if (mode === rule.mode) return undefined;
  const place = placeOf(rule);
  const isWanted = await confirm({
    title: `Set the rule for ${place} to ${mode}?`,
    text: `It is ${rule.mode} now: ${modeWords[rule.mode]}. From the next query on ${modeWords[mode]}. You can take it back for 10 seconds with one click.`,
    action: `Set to ${mode}`,
  });
  if (!isWanted) return undefined;
  const outcome = await updateRule(tagged, { mode });
  if ('failure' in outcome) return outcome.failure;
  tell(
    `The rule for ${place} is ${mode} now; it was ${rule.mode}.`,
    () => void takeBack(outcome.value, rule.mode),
  );
  return undefined;
}

async function takeBack(changed: TaggedRule, mode: Mode): Promise<void> {
  const outcome = await updateRule(changed, { mode });
  const place = placeOf(changed.rule);
  if ('failure' in outcome) tell(`Not taken back. ${outcome.failure.what} ${outcome.failure.todo}`);
  else tell(`Taken back: the rule for ${place} is ${mode} again.`);
}
