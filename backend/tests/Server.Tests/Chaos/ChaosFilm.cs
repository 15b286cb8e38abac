using Sluice.Server.Tests.EndToEnd;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Layouts;

namespace Sluice.Server.Tests.Chaos;

/// <summary>A published film, some articles of which are missing at all providers.</summary>
internal sealed class ChaosFilm
{
    private readonly MockRelease _release;
    private readonly MockBytes _bytes;
    private readonly bool _isPlain;
    private readonly IReadOnlyList<int> _holes;

    private ChaosFilm(string name, MockRelease release, MockBytes bytes, bool isPlain, IReadOnlyList<int> holes) =>
        (Name, _release, _bytes, _isPlain, _holes) = (name, release, bytes, isPlain, holes);

    public string Name { get; }

    public string Path => $"content/movies/{Name}/film.mkv";

    public long Size => _bytes.Length;

    private int ArticleSize => _release.Files[0].ArticleSize;

    /// <summary>Creates a film that was posted without an archive.</summary>
    /// <param name="number">Distinguishes it from the other films.</param>
    /// <param name="size">Bytes.</param>
    /// <param name="articleSize">Bytes per article.</param>
    /// <param name="holes">Numbers of the missing parts, from 1.</param>
    public static ChaosFilm Plain(int number, long size, int articleSize, IReadOnlyList<int> holes)
    {
        var release = MockRelease.Plain((ulong)number, size, articleSize: articleSize);
        return new ChaosFilm($"chaos-{number}", release, release.BytesOf(0), isPlain: true, holes);
    }

    /// <summary>Creates a film in an archive whose volumes are so short that none has a part with the number of a missing part.</summary>
    /// <param name="layout">One of <see cref="LayoutRecipe.Names"/>.</param>
    /// <param name="number">Distinguishes it from the other films.</param>
    /// <param name="size">Bytes.</param>
    /// <param name="articleSize">Bytes per article.</param>
    public static ChaosFilm InArchive(string layout, int number, long size, int articleSize)
    {
        var release = new LayoutRecipe { Layout = layout, Size = size }.Make((ulong)number, articleSize);
        return new ChaosFilm($"chaos-{layout}", release, release.Entries.Single(entry => entry.Path == "film.mkv").Bytes, isPlain: false, []);
    }

    /// <summary>Adds the film and waits until it can be read.</summary>
    public async Task PublishAsync(SluiceClient client, CancellationToken cancel) =>
        await client.PublishedAsync(await client.AddFileAsync("movies", Name, _release.ToNzb(), cancel), cancel);

    public void Fill(long offset, Span<byte> destination) => _bytes.Fill(offset, destination);

    /// <summary>Whether an offset lies in the first article of an answer; inside an archive an approximation.</summary>
    public bool IsInLanding(long place, long landing) =>
        _isPlain ? place / ArticleSize == landing / ArticleSize : place >= landing && place < landing + ArticleSize;

    /// <summary>Whether one of the ranges overlaps a missing article.</summary>
    public bool HasHole(IEnumerable<(long From, int Count)> ranges) => ranges.Any(range => _holes.Any(part =>
        range.From < (long)part * ArticleSize && range.From + range.Count > (part - 1L) * ArticleSize));

    /// <summary>Returns the ranges between the holes.</summary>
    public IEnumerable<(long From, int Count)> Sound()
    {
        long from = 0;
        foreach (var part in _holes)
        {
            yield return (from, (int)(((part - 1L) * ArticleSize) - from));
            from = (long)part * ArticleSize;
        }

        yield return (from, (int)(Size - from));
    }
}
