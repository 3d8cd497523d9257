import type { Signal } from '@preact/signals';
import { createRule, deleteRule, listRules, type TaggedRule } from '../../api/rules.ts';
import { goTo } from '../../navigate.ts';
import { confirm } from '../../ui/confirm.tsx';
import { tell } from '../../ui/undo.tsx';
import { settingsOf } from './settings.tsx';
import { fallbackOf, placeOf } from './words.ts';

/**
 * Asks for the name, deletes the rule as it was shown, and offers to make it again.
 *
 * @param isDeleting - Set from the request until it failed; the page is left where it did not.
 */
export async function askAndDelete(tagged: TaggedRule, isDeleting: Signal<boolean>): Promise<void> {
  const { rule } = tagged;
  const all = await listRules();
  const rules = 'value' in all ? all.value.result : [rule];
  const isWanted = await confirm({
    title: `Delete the rule for ${placeOf(rule)}?`,
    text: fallbackOf(rule, rules),
    action: 'Delete the rule',
    isHarmful: true,
    typed: rule.name,
  });
  if (!isWanted) return;
  isDeleting.value = true;
  const outcome = await deleteRule(tagged);
  if ('failure' in outcome) {
    isDeleting.value = false;
    tell(`Not deleted. ${outcome.failure.what} ${outcome.failure.still}`);
    return;
  }
  goTo('/rules');
  const { scope, name } = rule;
  tell(`The rule for ${placeOf(rule)} is deleted.`, async () => {
    const made = await createRule({ scope, name, ...settingsOf(rule) }, crypto.randomUUID());
    if ('failure' in made) tell(`Not made again. ${made.failure.what} ${made.failure.todo}`);
    else tell(`The rule for ${placeOf(rule)} is there again, with a new id.`);
  });
}
