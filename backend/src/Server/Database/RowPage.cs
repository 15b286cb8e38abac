namespace Sluice.Server.Database;

/// <summary>The place of a row in a list. Rows come and go; the place stays where it is between the others (ADM-4).</summary>
/// <param name="Rank">The number that the list is sorted by; 0 where it is sorted by something else.</param>
/// <param name="Text">The text that it is sorted by; may be empty.</param>
/// <param name="Row">Tells rows apart that are equal otherwise.</param>
internal sealed record RowPlace(long Rank, string Text, long Row);

/// <summary>A part of a list.</summary>
/// <param name="Items">Its rows, in order.</param>
/// <param name="Next">The place of the last one; null where nothing is behind it.</param>
/// <param name="Total">Rows of the whole list.</param>
internal sealed record RowPage<T>(IReadOnlyList<T> Items, RowPlace? Next, long Total);

/// <summary>The row number of a row with its place.</summary>
internal sealed record PlacedRow
{
    /// <summary>Its number.</summary>
    public long Number { get; init; }

    /// <inheritdoc cref="RowPlace.Rank"/>
    public long Rank { get; init; }

    /// <inheritdoc cref="RowPlace.Text"/>
    public string Text { get; init; } = "";

    /// <inheritdoc cref="RowPlace.Row"/>
    public long Row { get; init; }

    /// <summary>Its place.</summary>
    public RowPlace Place => new(Rank, Text, Row);
}
