using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Database;

namespace Sluice.Server.Tests.Database;

/// <summary>A data folder in an otherwise empty parent folder; both are deleted at the end.</summary>
internal sealed class TemporaryFolder : IDisposable
{
    // A server that a test starts as another user has to traverse the parent folder.
    private const UnixFileMode Passable =
        UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute;

    public TemporaryFolder()
    {
        Parent = Directory.CreateTempSubdirectory("sluice-test-").FullName;
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(Parent, Passable);
        Folder = new DataFolder(Directory.CreateDirectory(Path.Combine(Parent, "data")).FullName);
        Folder.Prepare();
    }

    /// <summary>The parent of the data folder, which contains nothing else unless a write has escaped from its folder.</summary>
    public string Parent { get; }

    public DataFolder Folder { get; }

    public string Root => Folder.Root;

    public SluiceDatabase OpenDatabase(params Migration[] migrations) => OpenDatabase(TimeProvider.System, migrations);

    public SluiceDatabase OpenDatabase(TimeProvider time, params Migration[] migrations)
    {
        var database = new SluiceDatabase(
            Folder,
            migrations.Length > 0 ? new MigrationRunner(migrations, Folder) : MigratedTemplate.RunnerFor(Folder),
            new SafeMode(NullLogger<SafeMode>.Instance),
            time);
        database.Open();
        return database;
    }

    public void Dispose() => Directory.Delete(Parent, recursive: true);
}
