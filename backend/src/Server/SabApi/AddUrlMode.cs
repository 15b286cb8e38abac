using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=addurl</c>. Responds as soon as the address is accepted, because the NZB is fetched later (SAB-25).</summary>
internal sealed class AddUrlMode(UrlFetchWorker fetches) : ISabMode
{
    public string Name => "addurl";

    public bool IsAdd => true;

    public async Task AnswerAsync(SabCall call)
    {
        var text = call.Parameters.Text("name", "url").Trim();
        if (text.Length == 0)
        {
            await SabAnswer.ErrorAsync(call, SabTexts.OneParameter);
            return;
        }

        if (fetches.Refuse(text, out var url) is { } reason)
            await SabAnswer.ErrorAsync(call, SabTexts.UrlRefused + reason);
        else
            await SabAddition.AnswerAsync(call, await fetches.AddAsync(url!, SabAddition.Read(call, ""), call.Cancelled));
    }
}
