import { useSearch } from 'wouter-preact';
import { changeQuery } from '../../navigate.ts';
import { bindingTo, TextField } from './fields.tsx';

/** Hook that returns the text that the user seeks in a list, which the URL contains, with its field. */
export function useSearchField(label: string, placeholder: string) {
  const shown = new URLSearchParams(useSearch()).get('text') ?? '';
  const text = bindingTo(shown, (sought) => changeQuery({ text: sought }, { replace: true }));
  const field = (
    <TextField
      label={label}
      isLabelHidden
      type="search"
      data-search
      text={text}
      placeholder={`${placeholder}  ( / )`}
    />
  );
  return { field, text: shown.trim().toLowerCase(), shown };
}
