// Makes backend/src/Server/Library/demo-clip.articles, the film that Sluice shows until a provider is configured.
//
//   dotnet run tools/DemoClip.cs            (from the root of the project; needs ffmpeg with libx264)
//
// ffmpeg's test picture and tone become an MP4 with its index at the start. The film is split into parts, and each part becomes
// one yEnc article (yEnc draft 1.3) in the format of a server's reply to ARTICLE (RFC 3977 section 6.2.1): headers, an empty
// line, the body with doubled dots, and the terminating line. The file contains these articles one after the other.
#:property RestorePackagesWithLockFile=false
#:property PublishAot=false
#:package System.IO.Hashing

using System.Diagnostics;
using System.Globalization;
using System.IO.Hashing;
using System.Text;

const string FilmName = "sluice-demo.mp4";
const string Target = "backend/src/Server/Library/demo-clip.articles";
const int PartSize = 64 * 1024;
const int LineLength = 128;

var film = await MakeFilmAsync();
var parts = (film.Length + PartSize - 1) / PartSize;
using (var output = File.Create(Target))
{
    for (var part = 0; part < parts; part++)
        output.Write(MakeArticle(film, part, parts));
}

Console.WriteLine($"{Target}: {film.Length} bytes of film in {parts} articles, sha256 {Convert.ToHexStringLower(System.Security.Cryptography.SHA256.HashData(film))}");

static async Task<byte[]> MakeFilmAsync()
{
    var folder = Directory.CreateTempSubdirectory("sluice-clip-");
    var path = Path.Combine(folder.FullName, FilmName);
    string[] arguments =
    [
        "-v", "error", "-nostdin",
        "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=12",
        "-f", "lavfi", "-i", "sine=frequency=440:beep_factor=4:sample_rate=44100:duration=12",
        "-c:v", "libx264", "-profile:v", "main", "-pix_fmt", "yuv420p", "-preset", "veryslow", "-crf", "30", "-g", "50",
        "-c:a", "aac", "-b:a", "64k",
        "-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact",
        "-movflags", "+faststart", path,
    ];
    using var ffmpeg = Process.Start("ffmpeg", arguments);
    await ffmpeg.WaitForExitAsync();
    if (ffmpeg.ExitCode != 0)
        throw new InvalidOperationException("ffmpeg failed.");

    var film = await File.ReadAllBytesAsync(path);
    folder.Delete(recursive: true);
    return film;
}

static byte[] MakeArticle(byte[] film, int part, int parts)
{
    var begin = part * PartSize;
    var data = film.AsSpan(begin, Math.Min(PartSize, film.Length - begin));
    var article = new MemoryStream();
    Line(article, $"Message-ID: <demo-{part + 1}of{parts}@sluice.invalid>");
    Line(article, $"Subject: \"{FilmName}\" yEnc ({part + 1}/{parts}) {film.Length}");
    Line(article, "Newsgroups: alt.binaries.test");
    Line(article, "From: Sluice <demo@sluice.invalid>");
    Line(article, "");
    Line(article, $"=ybegin part={part + 1} total={parts} line={LineLength} size={film.Length} name={FilmName}");
    Line(article, $"=ypart begin={begin + 1} end={begin + data.Length}");
    Encode(article, data);
    Line(article, $"=yend size={data.Length} part={part + 1} pcrc32={Crc(data)}{(part + 1 == parts ? $" crc32={Crc(film)}" : "")}");
    Line(article, ".");
    return article.ToArray();
}

static void Encode(MemoryStream article, ReadOnlySpan<byte> data)
{
    var column = 0;
    foreach (var value in data)
    {
        var encoded = unchecked((byte)(value + 42));
        if (column == 0 && encoded == '.')
            article.WriteByte((byte)'.');
        if (encoded is 0 or (byte)'\r' or (byte)'\n' or (byte)'=')
        {
            article.WriteByte((byte)'=');
            encoded += 64;
            column++;
        }

        article.WriteByte(encoded);
        if (++column >= LineLength)
        {
            Line(article, "");
            column = 0;
        }
    }

    if (column > 0)
        Line(article, "");
}

static string Crc(ReadOnlySpan<byte> data) => Crc32.HashToUInt32(data).ToString("x8", CultureInfo.InvariantCulture);

static void Line(MemoryStream article, string text) => article.Write(Encoding.ASCII.GetBytes(text + "\r\n"));
