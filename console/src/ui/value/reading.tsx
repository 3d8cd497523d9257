/** Shown while the server has not answered yet, in the place of the content. */
export const Reading = ({ what }: { readonly what: string }) => <p class="quiet">Reading {what} …</p>;
