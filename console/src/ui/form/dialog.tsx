import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { UntrustedText } from '../value/untrustedText.tsx';

export interface DialogProps {
  readonly title: string;
  /** Called when the dialog is closed, by any means. */
  readonly close: () => void;
  readonly children: ComponentChildren;
}

/** A modal `<dialog>`. The browser traps the focus, closes the dialog on Escape, and restores the focus. */
export function Dialog({ title, close, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // The browser restores the focus only if the dialog is closed before it is removed.
    return () => dialog?.close();
  }, []);
  return (
    // The event of a removed dialog is ignored: another dialog may be open.
    <dialog ref={element} aria-labelledby={titleId} onClose={() => element.current && close()}>
      <h2 id={titleId}>
        <UntrustedText text={title} />
      </h2>
      {children}
    </dialog>
  );
}
