import type { Rule } from '../../api/types.ts';
import { may } from '../../session.ts';
import { showFailure } from '../../ui/toast.tsx';
import { changeMode } from './changeMode.ts';
import { type Mode, modeEffects, modes, scopeText } from './texts.ts';

export function ModeSelect({ rule }: { readonly rule: Rule }) {
  const { id, mode } = rule;
  if (!may('dns_protection:write')) return <span class={`mode ${mode}`}>{mode}</span>;
  const choose = async (wanted: Mode) => {
    const outcome = await changeMode(id, wanted);
    if ('failure' in outcome) showFailure('Not changed', outcome.failure);
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
