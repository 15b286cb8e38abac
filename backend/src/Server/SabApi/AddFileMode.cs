using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=addfile</c>. Invalid content is accepted, and its import then fails in the history (SAB-22).</summary>
internal sealed class AddFileMode(NzbIntake intake) : ISabMode
{
    public string Name => "addfile";

    public bool IsAdd => true;

    public async Task AnswerAsync(SabCall call)
    {
        if (call.Upload is not { } upload)
        {
            await SabAnswer.ErrorAsync(call, SabTexts.OneParameter);
            return;
        }

        var outcome = await intake.AcceptAsync(upload, SabAddition.Read(call, call.UploadName), call.Cancelled);
        await SabAddition.AnswerAsync(call, outcome);
    }
}
