using System.Globalization;
using System.Text;
using Sluice.Server.Tests.Database;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Films that ffmpeg makes once for a class of tests, with a line of subtitles every three seconds in each track.</summary>
public sealed class SubtitledFilm : IDisposable
{
    public const int Seconds = 120;

    private readonly TemporaryFolder _folder = new();
    private byte[]? _matroska;
    private byte[]? _mp4;

    /// <summary>Numbers of the subtitle tracks of the Matroska film: picture and sound come first.</summary>
    private const byte FirstTrack = 3;

    /// <summary>The lines: number, start and end in milliseconds.</summary>
    public static IEnumerable<(int Number, long Start, long End)> Lines => Enumerable.Range(0, Seconds / 3).Select(i => (i, i * 3000L + 500, i * 3000L + 2500));

    /// <summary>The lines that are shown within a stretch.</summary>
    public static IEnumerable<string> TextOf(long from, long to) => Lines.Where(line => line.Start < to && line.End > from).Select(line => $"Line {line.Number} & more");

    public void Dispose() => _folder.Dispose();

    /// <summary>A Matroska film with SubRip, ASS and WebVTT.</summary>
    public async Task<byte[]> MatroskaAsync(CancellationToken cancel)
    {
        var path = Path.Combine(_folder.Root, "film.mkv");
        if (_matroska is null)
            await MakeAsync(["-map", "2:s", "-map", "2:s", "-map", "2:s", "-c:s:0", "srt", "-c:s:1", "ass", "-c:s:2", "webvtt", path], cancel);
        return _matroska ??= await File.ReadAllBytesAsync(path, cancel);
    }

    /// <summary>An MP4 film with timed text.</summary>
    public async Task<byte[]> Mp4Async(CancellationToken cancel)
    {
        var path = Path.Combine(_folder.Root, "film.mp4");
        if (_mp4 is null)
            await MakeAsync(["-map", "2:s", "-c:s", "mov_text", "-metadata:s:s:0", "language=ger", path], cancel);
        return _mp4 ??= await File.ReadAllBytesAsync(path, cancel);
    }

    /// <summary>A Matroska film without an index, as a recording has.</summary>
    public async Task<byte[]> WithoutIndexAsync(CancellationToken cancel) =>
        (await MakeAsync(["-map", "2:s", "-c:s", "srt", "-f", "matroska", "-"], cancel)).Output;

    /// <summary>Takes the subtitles out of the index of a film, as many films have it: the entries name a track that does not exist.</summary>
    public static byte[] WithoutSubtitlesInIndex(byte[] film)
    {
        var changed = (byte[])film.Clone();
        var index = film.AsSpan().LastIndexOf((ReadOnlySpan<byte>)[0x1C, 0x53, 0xBB, 0x6B]);
        for (var at = index; at < film.Length - 4; at++)
        {
            // CueTrack of one byte, then CueClusterPosition.
            if (film[at] == 0xF7 && film[at + 1] == 0x81 && film[at + 2] >= FirstTrack && film[at + 3] == 0xF1)
                changed[at + 2] = 0x7E;
        }

        return changed;
    }

    private async Task<ProgramResult> MakeAsync(string[] output, CancellationToken cancel)
    {
        var subtitles = Path.Combine(_folder.Root, "lines.srt");
        var text = new StringBuilder();
        foreach (var (number, start, end) in Lines)
            text.Append(CultureInfo.InvariantCulture, $"{number + 1}\n{Time(start)} --> {Time(end)}\nLine {number} & more\n\n");
        await File.WriteAllTextAsync(subtitles, text.ToString(), cancel);
        string[] arguments =
        [
            "-v", "error", "-f", "lavfi", "-i", $"testsrc2=size=320x180:rate=25:duration={Seconds}", "-f", "lavfi", "-i", $"sine=duration={Seconds}", "-i", subtitles,
            "-map", "0:v", "-map", "1:a", "-vf", "noise=alls=60:allf=t", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-g", "50", "-b:v", "800k", "-c:a", "aac",
            "-ac", "1", .. output,
        ];
        ExternalProgram.Require("ffmpeg");
        return (await ExternalProgram.RunAsync("ffmpeg", arguments, null, cancel)).Succeeded();
    }

    private static string Time(long milliseconds) => TimeSpan.FromMilliseconds(milliseconds).ToString("hh\\:mm\\:ss\\,fff", CultureInfo.InvariantCulture);
}
