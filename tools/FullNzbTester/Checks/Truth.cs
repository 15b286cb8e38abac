using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Layouts;

namespace Sluice.Tools.FullNzbTester.Checks;

/// <summary>The expected bytes of a file.</summary>
/// <remarks>Not thread-safe: each reader has its own instance.</remarks>
internal abstract class Truth
{
    /// <param name="offset">Offset of the first byte in the file.</param>
    /// <returns>Index of the first difference, or −1.</returns>
    public abstract int FirstDifference(long offset, ReadOnlySpan<byte> found);

    public abstract byte At(long offset);

    /// <summary>Returns the expected bytes of a synthetic file, computed during the comparison.</summary>
    public static Truth Of(ulong seed, int file) => new Synthetic(seed, file);

    /// <summary>Returns the expected bytes of any file that the mock generates.</summary>
    public static Truth Of(MockBytes bytes) => new Computed(bytes);

    private sealed class Synthetic(ulong seed, int file) : Truth
    {
        private readonly byte[] _one = new byte[1];

        public override int FirstDifference(long offset, ReadOnlySpan<byte> found) => SyntheticComparison.FirstDifference(seed, file, offset, found);

        public override byte At(long offset)
        {
            SyntheticContent.Fill(seed, file, offset, _one);
            return _one[0];
        }
    }

    private sealed class Computed(MockBytes bytes) : Truth
    {
        private byte[] _expected = [];

        public override int FirstDifference(long offset, ReadOnlySpan<byte> found)
        {
            if (_expected.Length < found.Length)
                _expected = new byte[found.Length];
            var expected = _expected.AsSpan(0, found.Length);
            bytes.Fill(offset, expected);
            var same = expected.CommonPrefixLength(found);
            return same == found.Length ? -1 : same;
        }

        public override byte At(long offset)
        {
            Span<byte> one = stackalloc byte[1];
            bytes.Fill(offset, one);
            return one[0];
        }
    }
}
