import { ruleCalls } from '../../api/rules.ts';
import type { Rule } from '../../api/types.ts';
import { may } from '../../session.ts';
import { showToast } from '../../ui/toast.tsx';
import { changeMode } from './changeMode.ts';
import { type Mode, modeEffects, modes, scopeText } from './texts.ts';

/** Shows the mode of a rule in a table, as a choice if the user's token may change rules. */
export function ModeSelect({ rule }: { readonly rule: Rule }) {
  const { id, mode } = rule;
  if (!may('dns_protection:write')) return <span class={`mode ${mode}`}>{mode}</span>;
  const choose = async (wanted: Mode) => {
    const read = await ruleCalls.read(id);
    const failure = 'failure' in read ? read.failure : await changeMode(read.value, wanted);
    if (failure) showToast(`Not changed. ${failure.what} ${failure.still}`);
  };
  return (
    <span class={`mode ${mode}`}>
      <select
        aria-label={`Mode of the rule for ${scopeText(rule)}`}
        value={mode}
        onChange={({ currentTarget }) => {
          const wanted = modes.find((one) => one === currentTarget.value);
          // The stored mode is shown until the change is confirmed and saved.
          currentTarget.value = mode;
          if (wanted !== undefined) void choose(wanted);
        }}
      >
        {modes.map((one) => (
          <option key={one} value={one} title={modeEffects[one]}>
            {one}
          </option>
        ))}
      </select>
    </span>
  );
}
