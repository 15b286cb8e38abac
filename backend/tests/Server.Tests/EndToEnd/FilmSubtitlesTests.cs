using Sluice.Usenet.Media.Subtitles;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Subtitles inside films that ffmpeg has made, stretch by stretch.</summary>
public sealed class FilmSubtitlesTests(SubtitledFilm films) : IClassFixture<SubtitledFilm>
{
    private const long Stretch = 7_000;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(true, 0, 400)]
    [InlineData(true, 1, 400)]
    [InlineData(true, 2, 400)]
    [InlineData(false, 0, int.MaxValue)]
    [InlineData(false, 1, int.MaxValue)]
    [InlineData(false, 2, int.MaxValue)]
    public async Task Matroska_subtitles_include_every_line_of_the_stretch(bool isIndexed, int track, int mostOfLine)
    {
        var film = await films.MatroskaAsync(Token);
        var file = new ReadFile(isIndexed ? film : SubtitledFilm.WithoutSubtitlesInIndex(film));
        var subtitles = await file.OpenAsync();

        file.Read = 0;
        await AssertAllAsync(subtitles, file, track);

        // Indexed lines cost their blocks and the heads of their clusters. Others cost the film once, and a cluster again per stretch.
        Assert.InRange(file.Read, 1, Math.Min(2.0 * film.Length, (double)mostOfLine * SubtitledFilm.Lines.Count() * 2));
    }

    [Fact]
    public async Task Mp4_subtitles_read_only_the_bytes_of_their_lines()
    {
        var file = new ReadFile(await films.Mp4Async(Token));
        var subtitles = await file.OpenAsync();

        file.Read = 0;
        await AssertAllAsync(subtitles, file, 0);

        Assert.InRange(file.Read, 1, 60 * 2 * SubtitledFilm.Lines.Count());
    }

    [Fact]
    public async Task Film_without_an_index_is_not_searched()
    {
        var file = new ReadFile(await films.WithoutIndexAsync(Token));
        var subtitles = await file.OpenAsync();

        file.Read = 0;
        var stretch = await subtitles.ReadAsync(0, 0, Stretch, file.ReadAsync, Token);

        Assert.Equal((StretchVerdict.NoIndex, 0L), (stretch!.Verdict, file.Read));
    }

    /// <summary>Bytes of real films changed at random: an answer or none, and never an exception or a read outside of the film.</summary>
    [Theory]
    [InlineData("mkv")]
    [InlineData("mp4")]
    public async Task Damaged_film_never_throws(string kind)
    {
        var film = kind == "mkv" ? await films.MatroskaAsync(Token) : await films.Mp4Async(Token);
        var random = new Random(33);
        // Headers and indices lie at both ends.
        const int edge = 8_000;
        var (opened, known) = (0, 0);
        var changed = (byte[])film.Clone();
        var places = new List<int>();
        for (var i = 0; i < 5_000; i++)
        {
            var file = new ReadFile(changed);
            foreach (var place in places)
                changed[place] = film[place];
            places.Clear();
            for (var changes = random.Next(1, 20); changes > 0; changes--)
            {
                places.Add(random.Next(3) switch { 0 => random.Next(edge), 1 => film.Length - 1 - random.Next(edge), _ => random.Next(film.Length) });
                changed[places[^1]] = (byte)random.Next(256);
            }

            if (await FilmSubtitles.OpenAsync(file.ReadAsync, film.Length, Token) is not { } subtitles)
                continue;
            opened++;
            var from = random.Next(SubtitledFilm.Seconds * 1000);
            for (var track = 0; track < 4; track++)
            {
                if (await subtitles.ReadAsync(track, from, from + Stretch, file.ReadAsync, Token) is not { Verdict: StretchVerdict.Known } stretch)
                    continue;
                known++;
                Assert.InRange(stretch.End, from + 1, from + Stretch);
                Assert.All(stretch.Cues, cue => Assert.True(cue.Start < from + Stretch && cue.End > from && cue.Text.Length > 0));
            }
        }

        Assert.InRange(opened, 100, 4_990);
        Assert.InRange(known, 100, 4 * opened);
    }

    private static async Task AssertAllAsync(FilmSubtitles subtitles, ReadFile file, int track)
    {
        var found = new HashSet<string>();
        for (var from = 0L; from < SubtitledFilm.Seconds * 1000; from += Stretch)
        {
            var stretch = await subtitles.ReadAsync(track, from, from + Stretch, file.ReadAsync, Token);

            Assert.Equal((StretchVerdict.Known, from + Stretch), (stretch!.Verdict, stretch.End));
            var texts = stretch.Cues.Select(cue => cue.Text.Replace("&amp;", "&", StringComparison.Ordinal)).ToList();
            Assert.Subset(SubtitledFilm.TextOf(from, from + Stretch).ToHashSet(), texts.ToHashSet());
            found.UnionWith(texts);
            // A line that began in an earlier cluster was found in the stretch before.
            Assert.Subset(texts.ToHashSet(), SubtitledFilm.Lines.Where(line => line.Start >= from && line.Start < from + Stretch - 100).Select(line => $"Line {line.Number} & more").ToHashSet());
            // ffmpeg delays all tracks by the first packet of the sound.
            foreach (var cue in stretch.Cues)
                Assert.Contains(SubtitledFilm.Lines, line => Math.Abs(cue.Start - line.Start) < 100 && Math.Abs(cue.End - line.End) < 100);
        }

        Assert.Equal(SubtitledFilm.TextOf(0, long.MaxValue).ToHashSet(), found);
    }

    /// <summary>A film in memory that counts what is read of it.</summary>
    private sealed class ReadFile(byte[] bytes)
    {
        public long Read { get; set; }

        public async Task<FilmSubtitles> OpenAsync() =>
            await FilmSubtitles.OpenAsync(ReadAsync, bytes.Length, Token) ?? throw new InvalidOperationException("The header was not understood.");

        public ValueTask<ReadOnlyMemory<byte>> ReadAsync(long offset, int length, CancellationToken cancellationToken) =>
            ReadAsync(offset, length, offset + length, cancellationToken);

        public ValueTask<ReadOnlyMemory<byte>> ReadAsync(long offset, int length, long end, CancellationToken cancellationToken)
        {
            Assert.InRange(offset, 0, bytes.Length);
            Assert.InRange(length, 0, bytes.Length - offset);
            Assert.InRange(end, offset + length, bytes.Length);
            Read += length;
            return new(bytes.AsMemory((int)offset, length));
        }
    }
}
