using System.Text.Json;
using Sluice.Server.Database;

namespace Sluice.Server.Backups;

/// <summary>
/// What the data folder knows about the second folder, in <c>backups/second.json</c>. The path is also here because safe mode and the command line cannot
/// read the settings, and progress is not in the second folder because an unchanged one is never written.
/// </summary>
/// <param name="Path">The second folder.</param>
/// <param name="WasUsed">Whether it has held a backup.</param>
/// <param name="CheckedOn">Day of the last reading of copies, in UTC; null if there was none.</param>
/// <param name="Part">The part that was read then, from 0 to <see cref="PoolCheck.Days"/> - 1.</param>
/// <param name="Damaged">Number of copies in that part that were damaged, like their originals.</param>
internal sealed record SecondFolderNote(string Path, bool WasUsed, DateOnly? CheckedOn, int Part, int Damaged)
{
    private const int MaxBytes = 64 << 10;

    /// <summary>Reads the note. Returns null if there is none, or if the file is damaged.</summary>
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
            // Only progress is lost: the worker writes the note again.
            return null;
        }
    }

    public void Write(DataFolder folder) => PrivateFile.Replace(FileOf(folder), JsonSerializer.SerializeToUtf8Bytes(this, BackupsJson.Default.SecondFolderNote));

    public static void Remove(DataFolder folder) => File.Delete(FileOf(folder));

    private static string FileOf(DataFolder folder) => System.IO.Path.Combine(folder.Backups, "second.json");
}
