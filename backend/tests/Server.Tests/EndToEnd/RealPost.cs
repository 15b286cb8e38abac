using System.Text.Json;
using Sluice.Testing;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A release of <c>Fixtures/posts</c> with its expected content.</summary>
internal sealed record RealPost(string Name, byte[] Nzb, string FileName, long Size, string Sha256)
{
    /// <summary>Folder with one folder of raw articles per release.</summary>
    public static string Spool => Repository.Fixture("posts");

    public static RealPost Read(string name)
    {
        using var manifest = JsonDocument.Parse(File.ReadAllBytes(Path.Combine(Spool, "manifest.json")));
        var film = manifest.RootElement.EnumerateArray()
            .Single(release => release.GetProperty("name").GetString() == name)
            .GetProperty("media")[0];
        return new RealPost(name, File.ReadAllBytes(Path.Combine(Spool, name + ".nzb")), film.GetProperty("name").GetString()!,
            film.GetProperty("size").GetInt64(), film.GetProperty("sha256").GetString()!);
    }

    /// <summary>Paths of its articles as posted, in the order of the NZB.</summary>
    public IEnumerable<string> Articles => Directory.EnumerateFiles(Path.Combine(Spool, Name)).Order(StringComparer.Ordinal);
}
