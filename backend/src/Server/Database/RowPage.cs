namespace Sluice.Server.Database;

/// <summary>The sort keys of a row. They identify a list position that stays valid while other rows come and go (ADM-4).</summary>
internal sealed record RowPlace(long Rank, string Text, long Row);

internal sealed record PlacedRow(long Number, RowPlace Place);

/// <summary>One page of a list.</summary>
/// <param name="Items">The rows, in order.</param>
/// <param name="Next">Position of the last row; null on the last page.</param>
/// <param name="Total">Number of rows in the whole list.</param>
internal sealed record RowPage<T>(IReadOnlyList<T> Items, RowPlace? Next, long Total)
{
    public RowPage<TOther> Of<TOther>(Func<T, TOther> other) => new([.. Items.Select(other)], Next, Total);
}
