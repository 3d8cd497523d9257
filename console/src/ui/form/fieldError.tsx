import type { Failure } from '../../api/failure.ts';
import { UntrustedText } from '../value/untrustedText.tsx';

interface FieldErrorProps {
  readonly failure: Failure | undefined;
  /** Field of the request, as the server names it. */
  readonly name: string;
}

const faultsOf = ({ failure, name }: FieldErrorProps) =>
  failure?.faults.filter(({ field }) => field === name) ?? [];

/** Returns the attributes of an input whose field may have an error. */
export const errorAttributes = (props: FieldErrorProps) =>
  faultsOf(props).length > 0
    ? { 'aria-invalid': true as const, 'aria-describedby': `error-${props.name}` }
    : {};

/** Shows the errors of the server for one field. */
export function FieldError(props: FieldErrorProps) {
  const faults = faultsOf(props);
  if (faults.length === 0) return null;
  return (
    <p id={`error-${props.name}`} class="note harm">
      ✕ <UntrustedText text={faults.map(({ message }) => message).join('; ')} />
    </p>
  );
}
