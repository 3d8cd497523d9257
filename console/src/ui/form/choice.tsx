import { useSearch } from 'wouter-preact';
import { changeQuery } from '../../navigate.ts';
import { bindingTo, SelectField } from './fields.tsx';

interface ChoiceProps {
  /** Parameter of the URL that the choice sets; the first page is shown then. The empty value removes it. */
  readonly name: string;
  readonly title: string;
  readonly isTitleHidden?: boolean;
  readonly options: readonly (readonly [value: string, text: string])[];
}

/** Returns the option that a parameter of the URL selects. Default: the empty value, which selects everything. */
export function useChoice(name: string, options: ChoiceProps['options']): string {
  const wanted = new URLSearchParams(useSearch()).get(name);
  return options.find(([value]) => value === wanted)?.[0] ?? '';
}

export function Choice({ name, title, isTitleHidden = false, options }: ChoiceProps) {
  const chosen = bindingTo(useChoice(name, options), (wanted) =>
    changeQuery({ [name]: wanted, cursor: '', page: '' }),
  );
  return <SelectField label={title} isLabelHidden={isTitleHidden} chosen={chosen} options={options} />;
}
