using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Tools.FullNzbTester.Checks;

/// <summary>What the bytes of a release have to be.</summary>
/// <remarks>Not thread-safe: each reader has its own.</remarks>
internal abstract class Truth
{
    /// <summary>Compares bytes with the truth.</summary>
    /// <param name="file">Posted file, from 0.</param>
    /// <param name="offset">Place of the first byte in it.</param>
    /// <param name="found">The bytes read.</param>
    /// <returns>Index of the first difference, or −1.</returns>
    public abstract int FirstDifference(int file, long offset, ReadOnlySpan<byte> found);

    /// <summary>The byte that should be there.</summary>
    public abstract byte At(int file, long offset);

    /// <summary>The truth of a release that the mock makes, for one reader.</summary>
    public static Truth Of(ulong seed, IReadOnlyList<MediaContent> media) => media.Count > 0 ? new Media(media) : new Synthetic(seed);

    private sealed class Synthetic(ulong seed) : Truth
    {
        private readonly byte[] _one = new byte[1];

        public override int FirstDifference(int file, long offset, ReadOnlySpan<byte> found) =>
            SyntheticComparison.FirstDifference(seed, file, offset, found);

        public override byte At(int file, long offset)
        {
            SyntheticContent.Fill(seed, file, offset, _one);
            return _one[0];
        }
    }

    private sealed class Media(IReadOnlyList<MediaContent> files) : Truth
    {
        private byte[] _expected = [];

        public override int FirstDifference(int file, long offset, ReadOnlySpan<byte> found)
        {
            if (_expected.Length < found.Length)
                _expected = new byte[found.Length];
            var expected = _expected.AsSpan(0, found.Length);
            files[file].Fill(offset, expected);
            var same = expected.CommonPrefixLength(found);
            return same == found.Length ? -1 : same;
        }

        public override byte At(int file, long offset)
        {
            Span<byte> one = stackalloc byte[1];
            files[file].Fill(offset, one);
            return one[0];
        }
    }
}
