namespace Sluice.Testing;

/// <summary>Ways to cut an input into pieces, for parsers that must not care where a buffer ends.</summary>
public static class Splits
{
    /// <summary>In one piece, cut once at every position, and byte by byte.</summary>
    public static IEnumerable<IReadOnlyList<ReadOnlyMemory<byte>>> EveryPosition(ReadOnlyMemory<byte> input)
    {
        yield return [input];
        for (var cut = 1; cut < input.Length; cut++)
            yield return [input[..cut], input[cut..]];
        yield return ByteByByte(input);
    }

    /// <summary>Pieces of one byte.</summary>
    public static IReadOnlyList<ReadOnlyMemory<byte>> ByteByByte(ReadOnlyMemory<byte> input) =>
        [.. Enumerable.Range(0, input.Length).Select(i => input.Slice(i, 1))];

    /// <summary>Pieces of 1 to <paramref name="longest"/> bytes.</summary>
    public static IReadOnlyList<ReadOnlyMemory<byte>> AtRandom(ReadOnlyMemory<byte> input, Random random, int longest)
    {
        var pieces = new List<ReadOnlyMemory<byte>>();
        for (var at = 0; at < input.Length;)
        {
            var length = Math.Min(random.Next(1, longest + 1), input.Length - at);
            pieces.Add(input.Slice(at, length));
            at += length;
        }

        return pieces;
    }
}
