using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Settings;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=addlocalfile</c>: adds a file from a folder that the settings allow (SAB-26). The file itself stays where it is.</summary>
internal sealed class AddLocalFileMode(NzbIntake intake, IOptionsMonitor<ApiOptions> options) : ISabMode
{
    public string Name => "addlocalfile";

    public async Task AnswerAsync(SabCall call)
    {
        var path = call.Parameters.Text("name");
        if (path.Length == 0)
        {
            await SabAnswer.ErrorAsync(call, SabTexts.OneParameter);
            return;
        }

        await using var file = Open(path);
        if (file is null)
            await SabAnswer.ErrorAsync(call, SabTexts.NoFile);
        else if (!ItemName.IsOfNzb(Path.GetFileName(path)))
            await SabAnswer.ErrorAsync(call, SabTexts.NoFileGiven);
        else
            await SabAddition.AnswerAsync(call, await intake.AddAsync(file, file.Length, SabAddition.Read(call, Path.GetFileName(path)), call.Cancelled));
    }

    /// <summary>Opens a file after resolving links. Null unless it is a readable file below an allowed folder, so that responses reveal nothing else.</summary>
    private FileStream? Open(string path)
    {
        if (!Path.IsPathRooted(path) || path.Contains('\0', StringComparison.Ordinal))
            return null;
        if (PosixCalls.RealPath(path) is not { } real || !IsAllowed(real) || !PosixCalls.IsPlainFile(real))
            return null;
        try
        {
            return new FileStream(
                real, FileMode.Open, FileAccess.Read, FileShare.Read | FileShare.Delete, bufferSize: 0, FileOptions.Asynchronous | FileOptions.SequentialScan);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    private bool IsAllowed(string real) => options.CurrentValue.LocalNzbFolders.Any(folder =>
        PosixCalls.RealPath(folder) is { } allowed
        && real.StartsWith(Path.TrimEndingDirectorySeparator(allowed) + Path.DirectorySeparatorChar, StringComparison.Ordinal));
}
