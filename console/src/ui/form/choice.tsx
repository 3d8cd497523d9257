import { useSearch } from 'wouter-preact';
import { changeQuery } from '../../navigate.ts';

interface ChoiceProps {
  /** Parameter of the URL that the choice sets; the first page is shown then. The empty value removes it. */
  readonly name: string;
  readonly title: string;
  readonly options: Readonly<Record<string, string>>;
}

export function Choice({ name, title, options }: ChoiceProps) {
  const value = new URLSearchParams(useSearch()).get(name) ?? '';
  return (
    <label>
      {title}
      <select
        value={value}
        onChange={({ currentTarget }) => changeQuery({ [name]: currentTarget.value, cursor: '' })}
      >
        {Object.entries(options).map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
