namespace Sluice.Server.Database;

/// <summary>The place of a row in a list. Rows come and go; the place stays where it is between the others (ADM-4).</summary>
/// <param name="Rank">The number that the list is sorted by; 0 where it is sorted by something else.</param>
/// <param name="Text">The text that it is sorted by; may be empty.</param>
/// <param name="Row">Tells rows apart that are equal otherwise.</param>
internal sealed record RowPlace(long Rank, string Text, long Row);

/// <summary>The row number of a row with its place.</summary>
internal sealed record PlacedRow(long Number, RowPlace Place);

/// <summary>A part of a list.</summary>
/// <param name="Items">Its rows, in order.</param>
/// <param name="Next">The place of the last one; null where nothing is behind it.</param>
/// <param name="Total">Rows of the whole list.</param>
internal sealed record RowPage<T>(IReadOnlyList<T> Items, RowPlace? Next, long Total)
{
    /// <summary>The same page of other things, one for each row.</summary>
    public RowPage<TOther> Of<TOther>(Func<T, TOther> other) => new([.. Items.Select(other)], Next, Total);
}
