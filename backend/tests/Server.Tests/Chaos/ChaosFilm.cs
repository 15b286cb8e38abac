using Sluice.Tools.MockNntpServer.Articles;

namespace Sluice.Server.Tests.Chaos;

/// <summary>A published film, of which some articles are nowhere.</summary>
/// <param name="release">What the mock serves.</param>
/// <param name="name">Name under which it was added.</param>
/// <param name="holes">Parts that no provider has, from 1.</param>
internal sealed class ChaosFilm(MockRelease release, string name, IReadOnlyList<int> holes)
{
    public MockRelease Release => release;

    public string Name => name;

    public string Path => $"content/movies/{name}/film.mkv";

    public long Size => release.Files[0].Size;

    public int ArticleSize => release.Files[0].ArticleSize;

    public void Fill(long offset, Span<byte> destination) => release.Fill(0, offset, destination);

    /// <summary>Whether one of the ranges needs a byte that is nowhere.</summary>
    public bool HasHole(IEnumerable<(long From, int Count)> ranges) => ranges.Any(range => holes.Any(part =>
        range.From < (long)part * ArticleSize && range.From + range.Count > (part - 1L) * ArticleSize));

    /// <summary>The stretches between the holes.</summary>
    public IEnumerable<(long From, int Count)> Sound()
    {
        long from = 0;
        foreach (var part in holes)
        {
            yield return (from, (int)(((part - 1L) * ArticleSize) - from));
            from = (long)part * ArticleSize;
        }

        yield return (from, (int)(Size - from));
    }
}
