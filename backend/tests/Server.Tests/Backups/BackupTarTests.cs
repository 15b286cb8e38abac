using System.Formats.Tar;
using System.Net;
using Sluice.Server.Auth;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Backups;

/// <summary>A backup as one tar file (OPS-8).</summary>
public sealed class BackupTarTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task OPS_8_Download_has_its_exact_length_and_fixed_bytes()
    {
        await using var films = await PublishedFilms.CreateAsync(3);
        await films.StartAsync();
        var id = (await films.BackUpAsync())["id"]!.ToString();

        using var answer = await films.Host.CallAsync(HttpMethod.Get, $"backups/{id}");
        var tar = await answer.Content.ReadAsByteArrayAsync(Token);

        Assert.Equal((HttpStatusCode.OK, "application/x-tar"), (answer.StatusCode, answer.Content.Headers.ContentType?.MediaType));
        Assert.Equal(tar.Length, answer.Content.Headers.ContentLength);
        Assert.Equal($"sluice-{id}.tar", answer.Content.Headers.ContentDisposition?.FileName);
        Assert.Equal(
            [
                $"{id}/manifest.json", $"{id}/blobs.keys", $"{id}/sluice.db",
                .. films.StoredNzbs.Order(StringComparer.Ordinal).Select(hash => $"blobs/{hash[..2]}/{hash}.nzb.br"),
            ],
            await NamesAsync(tar));
        using var again = await films.Host.CallAsync(HttpMethod.Get, $"backups/{id}");
        Assert.Equal(tar, await again.Content.ReadAsByteArrayAsync(Token));
    }

    [Fact]
    public async Task OPS_8_Unpacked_tar_is_a_sound_backup()
    {
        await using var films = await PublishedFilms.CreateAsync(2);
        await films.StartAsync();
        var id = (await films.BackUpAsync())["id"]!.ToString();
        using var answer = await films.Host.CallAsync(HttpMethod.Get, $"backups/{id}");
        var path = Path.Combine(Directory.CreateDirectory(films.Second).FullName, "backup.tar");
        await File.WriteAllBytesAsync(path, await answer.Content.ReadAsByteArrayAsync(Token), Token);
        var to = Directory.CreateDirectory(Path.Combine(films.Second, "to")).FullName;

        var folder = await BackupTar.UnpackAsync(path, to, Token);

        Assert.Equal(Path.Combine(to, id), folder);
        Assert.Null(films.Host.Get<BackupProof>().FindFlaw(folder!, BlobPool.Beside(folder!, new DiskBlobFiles()), Token));
    }

    [Fact]
    public async Task OPS_8_Tar_with_foreign_names_writes_nothing_else()
    {
        await using var films = await PublishedFilms.CreateAsync(0);
        var path = Path.Combine(Directory.CreateDirectory(films.Second).FullName, "backup.tar");
        var hash = new string('a', 64);
        string[] names =
        [
            "../evil", "/sluice-evil", "2026-01-03T100000Z-v1/../evil", "2026-01-03T100000Z-v1/secret.key", "blobs/aa/../../evil", $"blobs/bb/{hash}.nzb.br", "mine/sluice.db",
        ];
        await using (var file = File.Create(path))
        await using (var writer = new TarWriter(file, TarEntryFormat.Ustar))
        {
            foreach (var name in names)
                await writer.WriteEntryAsync(new UstarTarEntry(TarEntryType.RegularFile, name) { DataStream = new MemoryStream([1]) }, Token);
            await writer.WriteEntryAsync(new UstarTarEntry(TarEntryType.SymbolicLink, "2026-01-03T100000Z-v1/sluice.db") { LinkName = "/etc/passwd" }, Token);
        }

        var to = Directory.CreateDirectory(Path.Combine(films.Second, "to")).FullName;

        Assert.Null(await BackupTar.UnpackAsync(path, to, Token));

        Assert.Empty(Directory.GetFileSystemEntries(to));
        Assert.Equal([path, to], Directory.GetFileSystemEntries(films.Second).Order(StringComparer.Ordinal));
        Assert.False(File.Exists("/sluice-evil"));
    }

    [Fact]
    public async Task OPS_8_Read_only_key_downloads_no_backup()
    {
        await using var films = await PublishedFilms.CreateAsync(1);
        await films.StartAsync();
        var id = (await films.BackUpAsync())["id"]!.ToString();
        var (_, key) = await films.Host.Get<AdminStore>().MakeKeyAsync("read", hasFullAccess: false, Token);
        using var request = new HttpRequestMessage(HttpMethod.Get, new Uri($"api/backups/{id}", UriKind.Relative));
        request.Headers.Add("X-Api-Key", key);

        using var answer = await films.Host.Client.SendAsync(request, Token);

        Assert.Equal(HttpStatusCode.Forbidden, answer.StatusCode);
    }

    private static async Task<List<string>> NamesAsync(byte[] tar)
    {
        var names = new List<string>();
        await using var reader = new TarReader(new MemoryStream(tar));
        while (await reader.GetNextEntryAsync(cancellationToken: Token) is { } entry)
            names.Add(entry.Name);
        return names;
    }
}
