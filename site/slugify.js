/** Returns the anchor of a heading, by the rules of GitHub. */
export const slugify = (title) =>
  title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
