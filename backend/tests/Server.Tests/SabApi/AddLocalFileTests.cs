using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary>Local files that clients add by path (SAB-26).</summary>
public sealed class AddLocalFileTests : IDisposable
{
    private const string NoFile = """{"status":false,"error":"file does not exist"}""";

    private readonly TemporaryFolder _folder = new();
    private readonly TemporaryFolder _files = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose()
    {
        _folder.Dispose();
        _files.Dispose();
    }

    [Fact]
    public async Task File_below_an_allowed_folder_is_added_and_stays()
    {
        var allowed = Folder("allowed/inner");
        var path = Write(allowed, "Some.Release {{pw}}.nzb", NzbText.Of("a.mkv"));
        await using var host = await StartAsync();

        var answer = await host.CallAsync(Call(path) + "&cat=tv&priority=-2", Token);

        var id = Assert.Single(answer.GetProperty("nzo_ids").EnumerateArray()).GetString()!;
        Assert.Equal($$"""{"status":true,"nzo_ids":["{{id}}"]}""", answer.ToString());
        var item = await host.Get<QueueStore>().FindAsync(id, Token);
        Assert.Equal(("Some.Release", "pw", "tv", true), (item!.Name, host.Get<ItemPasswords>().Open(item), item.Category, item.Paused));
        Assert.True(File.Exists(path));
    }

    [Fact]
    public async Task Each_NZB_in_a_local_zip_becomes_an_item()
    {
        var path = Write(Folder("allowed"), "both.zip", NzbText.Zip(("One.nzb", NzbText.Of("a.mkv")), ("Two.nzb", NzbText.Of("b.mkv"))));
        await using var host = await StartAsync();

        Assert.Equal(2, (await host.CallAsync(Call(path), Token)).GetProperty("nzo_ids").GetArrayLength());
    }

    [Fact]
    public async Task Path_outside_the_allowed_folders_is_not_found()
    {
        var (allowed, other) = (Folder("allowed"), Folder("allowed-not"));
        var outside = Write(other, "x.nzb", NzbText.Of("a.mkv"));
        var inside = Write(allowed, "y.nzb", NzbText.Of("a.mkv"));
        File.CreateSymbolicLink(Path.Combine(allowed, "link.nzb"), outside);
        Directory.CreateSymbolicLink(Path.Combine(allowed, "folder"), other);
        Directory.CreateDirectory(Path.Combine(allowed, "folder.nzb"));
        File.CreateSymbolicLink(Path.Combine(other, "back.nzb"), inside);
        await using var host = await StartAsync();

        string[] paths =
        [
            outside, Path.Combine(allowed, "link.nzb"), Path.Combine(allowed, "folder", "x.nzb"), Path.Combine(allowed, "..", "allowed-not", "x.nzb"),
            Path.Combine(allowed, "none.nzb"), Path.Combine(allowed, "folder.nzb"), allowed, "y.nzb", "/etc/passwd", "/dev/zero", "\0", "x\0.nzb", inside + "\0",
        ];
        foreach (var path in paths)
            Assert.Equal(NoFile, (await host.CallAsync(Call(path), Token)).ToString());

        // The location of the file decides, not the path of the link to it.
        Assert.True((await host.CallAsync(Call(Path.Combine(other, "back.nzb")), Token)).GetProperty("status").GetBoolean());
    }

    [Fact]
    public async Task Without_allowed_folders_no_file_is_found()
    {
        var path = Write(Folder("allowed"), "x.nzb", NzbText.Of("a.mkv"));
        await using var host = await ProductHost.StartAsync(_folder);

        Assert.Equal(NoFile, (await host.CallAsync(Call(path), Token)).ToString());
    }

    [Fact]
    public async Task Non_NZB_file_and_missing_path_get_error_messages()
    {
        var path = Write(Folder("allowed"), "x.mkv", [1]);
        await using var host = await StartAsync();

        Assert.Equal("""{"status":false,"error":"no file given"}""", (await host.CallAsync(Call(path), Token)).ToString());
        Assert.Equal("""{"status":false,"error":"expects one parameter"}""", (await host.CallAsync("mode=addlocalfile", Token)).ToString());
    }

    private static string Call(string path) => "mode=addlocalfile&name=" + Uri.EscapeDataString(path);

    private static string Write(string folder, string name, byte[] content)
    {
        var path = Path.Combine(folder, name);
        File.WriteAllBytes(path, content);
        return path;
    }

    private string Folder(string name) => Directory.CreateDirectory(Path.Combine(_files.Root, name)).FullName;

    private Task<ProductHost> StartAsync() =>
        ProductHost.StartAsync(_folder, null, null, ("SLUICE_CONFIG__API__LOCAL_NZB_DIRS", Folder("allowed") + "/"));
}
