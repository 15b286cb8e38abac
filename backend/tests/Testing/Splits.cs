namespace Sluice.Testing;

/// <summary>Ways to split an input into pieces, for parsers whose result must not depend on buffer borders.</summary>
public static class Splits
{
    /// <summary>Returns the input unsplit, split in two at every position, and split into single bytes.</summary>
    public static IEnumerable<IReadOnlyList<ReadOnlyMemory<byte>>> EveryPosition(ReadOnlyMemory<byte> input)
    {
        yield return [input];
        for (var cut = 1; cut < input.Length; cut++)
            yield return [input[..cut], input[cut..]];
        yield return ByteByByte(input);
    }

    public static IReadOnlyList<ReadOnlyMemory<byte>> ByteByByte(ReadOnlyMemory<byte> input) =>
        [.. Enumerable.Range(0, input.Length).Select(i => input.Slice(i, 1))];

    /// <summary>Splits the input into pieces of 1 to <paramref name="longest"/> bytes.</summary>
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
