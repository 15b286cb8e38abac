using System.Text.Json;
using Sluice.Server.Database;

namespace Sluice.Server.Backups;

/// <summary>
/// State of the second folder, stored in the data folder as <c>backups/second.json</c>. It includes the path, because safe mode and commands cannot read the
/// settings. It includes the progress, because an unchanged second folder is never written.
/// </summary>
/// <param name="Path">The second folder.</param>
/// <param name="WasUsed">Whether the folder has ever held a backup.</param>
/// <param name="CheckedOn">Day when copies were last reread, in UTC; null if never.</param>
/// <param name="Part">The part that was reread on that day, from 0 to <see cref="PoolCheck.Days"/> - 1.</param>
/// <param name="Damaged">Number of copies in that part that were damaged along with their originals.</param>
internal sealed record SecondFolderNote(string Path, bool WasUsed, DateOnly? CheckedOn, int Part, int Damaged)
{
    private const int MaxBytes = 64 << 10;

    /// <summary>Reads the note. Returns null if there is none or the file is damaged.</summary>
    public static SecondFolderNote? Read(DataFolder folder)
    {
        try
        {
            return new FileInfo(FileOf(folder)) is { Exists: true, Length: <= MaxBytes }
                ? JsonSerializer.Deserialize(File.ReadAllBytes(FileOf(folder)), BackupsJson.Default.SecondFolderNote)
                : null;
        }
        catch (Exception e) when (e is JsonException or IOException or UnauthorizedAccessException)
        {
            // Only progress is lost, because the worker writes the note again.
            return null;
        }
    }

    public void Write(DataFolder folder) => PrivateFile.Replace(FileOf(folder), JsonSerializer.SerializeToUtf8Bytes(this, BackupsJson.Default.SecondFolderNote));

    public static void Remove(DataFolder folder) => File.Delete(FileOf(folder));

    private static string FileOf(DataFolder folder) => System.IO.Path.Combine(folder.Backups, "second.json");
}
