import type { Signal } from '@preact/signals';
import { newRetryKey } from '../../api/access.ts';
import { createRule, deleteRule, listRules, type TaggedRule } from '../../api/rules.ts';
import { goTo } from '../../navigate.ts';
import { confirm } from '../../ui/confirm.tsx';
import { showToast } from '../../ui/toast.tsx';
import { fallbackOf, scopeText } from './texts.ts';

/**
 * Asks the user to type the rule's name, deletes the rule unless it was changed since it was read, and offers to
 * create it again. `isDeleting` becomes false after a failure. After success it stays true, because the user leaves
 * the page.
 */
export async function confirmAndDelete(tagged: TaggedRule, isDeleting: Signal<boolean>): Promise<void> {
  const { rule } = tagged;
  const all = await listRules();
  const rules = 'value' in all ? all.value.result : [rule];
  const isWanted = await confirm({
    title: `Delete the rule for ${scopeText(rule)}?`,
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
    showToast(`Not deleted. ${outcome.failure.what} ${outcome.failure.still}`);
    return;
  }
  goTo('/rules');
  const { id: _id, created_on: _created, modified_on: _modified, ...creation } = rule;
  showToast(`The rule for ${scopeText(rule)} was deleted.`, async () => {
    const made = await createRule(creation, newRetryKey());
    if ('failure' in made) showToast(`Not restored. ${made.failure.what} ${made.failure.todo}`);
    else showToast(`The rule for ${scopeText(rule)} is restored, with a new id.`);
  });
}
