// The folder in which releases without a category lie.
const folderOfNone = "uncategorized";

/** A category as its folder is called: download clients say `*` where none was chosen. */
export function categoryName(category: string): string {
  return category === "*" || category === "" ? folderOfNone : category;
}
