import type { Signal } from '@preact/signals';
import type { Tagged } from '../../api/collection.ts';
import { ruleCalls } from '../../api/rules.ts';
import type { Rule } from '../../api/types.ts';
import { confirmAndDelete } from '../../ui/form/confirmAndDelete.ts';
import { fallbackOf, scopeText } from './texts.ts';

export async function confirmAndDeleteRule(tagged: Tagged<Rule>, isDeleting: Signal<boolean>): Promise<void> {
  const rule = tagged.item;
  const all = await ruleCalls.list();
  await confirmAndDelete(tagged, {
    ...{ kind: 'rule', place: scopeText(rule), typed: rule.name },
    text: fallbackOf(rule, 'value' in all ? all.value.result : [rule]),
    ...{ calls: ruleCalls, list: '/rules', isDeleting },
  });
}
